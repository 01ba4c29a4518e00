"""Forms that change something, so that only our own pages can send them. They need no script.

A form holds a token: a keyed hash of a random name that the browser keeps in a cookie. A page of another site can make
a browser send the cookie, but it can read neither the cookie nor the token. The guard also refuses requests that,
according to the browser, come from another site.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, quote, unquote

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

__all__ = ["Forms", "fields_of"]

SESSION: Final = "lshdb_session"
WHO: Final = "lshdb_who"
YEAR: Final = 365 * 24 * 3600
# Fields of a form.
FIELDS: Final = 10
_NAME: Final = re.compile(r"[\w-]{43}", re.ASCII)


async def fields_of(request: Request) -> Mapping[str, str]:
    """Return the fields of a form, the first value of each. Raises: HTTPException: it has too many."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        given = parse_qs(body, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"a form has at most {FIELDS} fields") from None
    return {name: values[0] for name, values in given.items()}


class Forms:
    """The tokens of forms, and the names that people gave. Args: secret: the same in all processes of a service."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def session(self, request: Request) -> str:
        """Return the name that the browser keeps, or a new one.

        Another service on this machine may have made it, because a cookie belongs to all ports.
        """
        kept = request.cookies.get(SESSION, "")
        return kept if _NAME.fullmatch(kept) else secrets.token_urlsafe(32)

    def token(self, session: str) -> str:
        """Return what a form of this browser holds."""
        return hmac.digest(self._secret, session.encode(), "sha256").hex()

    def who(self, request: Request) -> str:
        """Return the name that somebody gave in the last form."""
        return unquote(request.cookies.get(WHO, ""), errors="replace")[:200]

    def remember(self, page: Response, request: Request, session: str) -> None:
        """Let the browser keep its name, and no copy of a page with a token."""
        self._keep(page, request, SESSION, session)
        page.headers["Cache-Control"] = "no-store"

    def remember_who(self, answer: Response, request: Request, who: str) -> None:
        """Let the browser keep the name of its user for the next form."""
        self._keep(answer, request, WHO, quote(who[:200], safe=""), YEAR)

    async def sent(self, request: Request) -> Mapping[str, str]:
        """Return the fields of a form. Raises: HTTPException: it is not one of ours."""
        fields = await fields_of(request)
        expected = self.token(request.cookies.get(SESSION, ""))
        if not hmac.compare_digest(fields.get("token", "").encode(), expected.encode()):
            raise HTTPException(HTTPStatus.FORBIDDEN, "This form is too old. Load its page again.")
        return fields

    def _keep(self, answer: Response, request: Request, name: str, value: str, seconds: int | None = None) -> None:
        is_secure = request.url.scheme == "https"
        answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=is_secure)
