"""How a service listens, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from secrets import token_bytes
from typing import Final

from lshdb.errors import UsageError
from lshdb.web.calls import require_token

__all__ = ["TOKEN_VARIABLE", "Limits", "ServeOptions"]

TOKEN_VARIABLE: Final = "LSHDB_TOKEN"
# Shorter ones can be guessed.
MIN_TOKEN: Final = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, and all of them together, may cost.

    Args:
        body: bytes of a body.
        seconds: how long a client waits for an answer, how long it may take to send its headers, and how long it may be
            silent while it sends a body.
        stream_seconds: how long an answer of many lines may take, and how long a client may read nothing of an answer.
        threads: quick questions that run at a time. The second one begins only while the first one is slow; see `Work`.
        lists: slow questions that run at a time, such as lists of pairs.
        waiting: requests that wait for a thread; one more is refused.
        streams: answers of many lines at a time. Each keeps a read transaction open.
    """

    body: int = 16_000_000
    seconds: float = 30.0
    stream_seconds: float = 3_600.0
    threads: int = 2
    lists: int = 2
    waiting: int = 100
    streams: int = 4


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a service listens.

    Args:
        token: what every client must send; None if only this machine can reach the service.
        writable: whether clients may add and remove documents.
        workers: processes; each has the limits for itself.
        secret: signs the forms of pages. It is drawn when the service starts, before it forks.

    Raises: UsageError: the address is not of this machine alone, and there is no token, or the token is short, or
        clients cannot send it.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    writable: bool = False
    token: str | None = None
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    secret: bytes = field(default_factory=partial(token_bytes, 32), repr=False)

    def __post_init__(self) -> None:
        if self.token is None and not self.is_loopback:
            raise UsageError(
                reason=f"--host {self.host} can be reached from other machines. Set {TOKEN_VARIABLE} to a secret that "
                "every client must send"
            )
        if self.token is not None:
            require_token(self.token)
            if len(self.token) < MIN_TOKEN:
                raise UsageError(reason=f"{TOKEN_VARIABLE} must have at least {MIN_TOKEN} characters")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
