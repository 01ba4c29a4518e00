"""What all pages share: the layout, errors as pages, and the values in an address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from lshdb.errors import LshdbError
from lshdb.index import Index
from lshdb.model.values import MAX_NAME_BYTES
from lshdb.web.desk import Desk
from lshdb.web.forms import Forms
from lshdb.web.kept import Kept
from lshdb.web.problems import logged_status
from lshdb.web.templating import assets, environment

__all__ = ["Sheet", "named", "number", "shown"]


class Sheet:
    """Renders pages, and knows where their contents come from."""

    def __init__(self, desk: Desk, kept: Kept) -> None:
        self.desk = desk
        self.kept = kept
        self.forms = Forms(desk.options.secret)
        self._templates = environment()
        self._assets = assets()

    def page(self, name: str, title: str, here: str, values: Mapping[str, Any], status: int = 200) -> Response:
        """Return a page. Args: name: of its template. here: the path that the navigation marks as current."""
        common = {"title": title, "here": here, "index": self.desk.index, "writable": self.desk.options.writable}
        text = self._templates.get_template(f"{name}.html").render(common | dict(values))
        return Response(text.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")

    def page_with_forms(
        self, request: Request, name: str, title: str, here: str, values: Mapping[str, Any]
    ) -> Response:
        """Return a page whose forms change something, if the service takes changes."""
        if not self.desk.options.writable:
            return self.page(name, title, here, values)
        session = self.forms.session(request)
        form = {"token": self.forms.token(session), "who": self.forms.who(request)}
        page = self.page(name, title, here, {"form": form, **values})
        self.forms.remember(page, request, session)
        return page

    def collections(self, index: Index) -> list[str]:
        """Return the names of all collections, which pages tell documents apart by if there are several."""
        return self.kept.get(index, "collections", Index.collections)

    def problem(self, status: int, detail: str) -> Response:
        """Return a page that says what went wrong."""
        return self.page("problem", HTTPStatus(status).phrase, "", {"detail": detail}, status)

    async def asset(self, name: str) -> Response:
        """A file that pages load."""
        if name not in self._assets:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        content, media_type = self._assets[name]
        return Response(content, media_type=media_type, headers={"Cache-Control": "max-age=300"})


class _OnSheet(Protocol):
    """Pages of one kind."""

    sheet: Sheet


_Pages = TypeVar("_Pages", bound=_OnSheet)


def shown(
    page: Callable[[_Pages, Request], Awaitable[Response]],
) -> Callable[[_Pages, Request], Awaitable[Response]]:
    """Return a page that shows errors as pages, too."""

    @wraps(page)
    async def answer(self: _Pages, request: Request) -> Response:
        try:
            return await page(self, request)
        except LshdbError as error:
            return self.sheet.problem(logged_status(error), str(error))
        except HTTPException as error:
            return self.sheet.problem(error.status_code, str(error.detail))

    return answer


def named(request: Request, name: str, collection: str) -> tuple[str, str]:
    """Return the id and the collection in an address. Raises: HTTPException: there is none."""
    doc_id = request.query_params.get(name, "")
    where = request.query_params.get(collection) or "default"
    for given in (doc_id, where):
        if not given or "\0" in given or len(given.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
            raise HTTPException(HTTPStatus.BAD_REQUEST, f"Name a document: an id has 1 to {MAX_NAME_BYTES:,} bytes.")
    return doc_id, where


def number(given: str | None, default: float) -> float:
    """Return the number in an address; the default if there is none, or no number."""
    try:
        found = float(given or default)
    except ValueError:
        return default
    return found if found == found else default
