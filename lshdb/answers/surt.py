"""Turn addresses into sort-friendly keys (SURT), as the indexes of web archives use them.

``http://www.Example.org:80/A/../b/?y=2&x=1#top`` becomes ``org,example)/b?x=1&y=2``: host names are reversed, so that
the pages of a domain sort together, and addresses that servers treat alike get one key.

Source: the rules of the Internet Archive's canonicalizer, on which pywb's keys depend.
Limitation: other numeric forms of an IP address are not converted to the dotted one.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

__all__ = ["surt"]

ADDRESS: Final = re.compile(
    r"(?:(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):)?(?://(?P<host>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
HAS_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
REPEATED_SCHEMES: Final = re.compile(r"\A(https?://)+")
UNSEEN: Final = re.compile(r"[\n\r\t]+")
WWW: Final = re.compile(r"www\d*\.")
DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
# The printable characters except # and %.
UNQUOTED: Final = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
# Session ids that servers put into paths and queries.
SESSION_PATHS: Final = tuple(
    re.compile(rf"(.*/)\({session}\)/(.+\.aspx.*)", re.DOTALL)
    for session in (r"(?:[a-z]\([0-9a-z]{24}\))+", "[0-9a-z]{24}")
)
SESSION_QUERIES: Final = tuple(
    re.compile(rf"(.*)(?:{session})(?:&(.*))?", re.IGNORECASE | re.DOTALL)
    for session in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)
# Each round undoes one level of quoting. Nobody quotes an address ten times, except to keep us busy.
MAX_ROUNDS: Final = 10


def surt(address: str) -> str:
    """Return the key of an address, in ASCII and without spaces."""
    text = REPEATED_SCHEMES.sub(r"\1", UNSEEN.sub("", address.strip()))
    if not HAS_SCHEME.match(text):
        text = f"http://{text}"
    match = ADDRESS.fullmatch(text)
    assert match is not None
    scheme, host = (match["scheme"] or "http").lower(), match["host"] or ""
    if scheme.startswith("http") and not host:
        host, _, rest = match["path"].lstrip("/").partition("/")
        path = f"/{rest}"
    else:
        path = match["path"]
    query = _query(match["query"] or "")
    if not host:
        return f"{scheme}:{_quoted(_unquoted(path))}{query}"
    return f"{_host(host, scheme)}){_path(path)}{query}"


def _host(authority: str, scheme: str) -> str:
    server = authority.rpartition("@")[2]
    # An IPv6 address also contains colons.
    name, _, port = server[1:].partition("]") if server.startswith("[") else server.partition(":")
    port = port.removeprefix(":")
    name = _unquoted(name).decode("utf-8", "ignore").lower()
    if not name.isascii():
        try:
            name = name.encode("idna").decode()
        except UnicodeError:
            name = _quoted(name.encode())
    name = name.replace("..", ".").strip(".")
    name = name.removeprefix(www[0]) if (www := WWW.match(name)) else name
    shown = "" if port in ("", DEFAULT_PORTS.get(scheme)) else f":{port}"
    return ",".join(reversed(_quoted(name.encode()).split("."))) + shown


def _path(path: str) -> str:
    kept: list[bytes] = []
    parts = _unquoted(path).split(b"/")[1:]
    for part in parts:
        if part == b".." and kept:
            kept.pop()
        elif part != b".":
            kept.append(part)
    made = "/" + _quoted(b"/".join(filter(None, kept))).lower()
    for pattern in SESSION_PATHS:
        if (session := pattern.fullmatch(made)) is not None:
            made = session[1] + session[2]
    return made


def _query(query: str) -> str:
    made = _quoted(_unquoted(query))
    for pattern in SESSION_QUERIES:
        if (session := pattern.fullmatch(made)) is not None:
            made = session[1] + (session[2] or "")
    arguments = sorted(made.lower().split("&"), key=lambda argument: argument.split("=", 1))
    return "?" + "&".join(arguments) if made else ""


def _unquoted(text: str) -> bytes:
    found = text.encode("utf-8", "surrogatepass")
    for _ in range(MAX_ROUNDS):
        before, found = found, unquote_to_bytes(found)
        if before == found:
            break
    return found


def _quoted(text: bytes) -> str:
    return quote_from_bytes(text, safe=UNQUOTED)
