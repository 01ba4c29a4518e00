"""axe-core finds no fault in any page, in light and in dark colours, wide and narrow."""

from __future__ import annotations

from importlib.resources import files

import pytest

pytest.importorskip("axe_core_python", reason="needs axe-core-python")

from selenium import webdriver

from tests.web.conftest import Service
from tests.web.test_browser import browser, chromium, path, pytestmark, service

__all__ = ["browser", "chromium", "path", "pytestmark", "service"]

PAGES = (
    "/",
    "/clusters",
    "/cluster?cluster={cluster}",
    "/document?id=page+1+left",
    "/compare?a=page+1+left&b=page+1+right",
    "/compare?a=page+1+left&b=page+1+right&view=inline",
    "/compare?a=version+1&b=version+3",
    "/cluster?cluster={versions}",
    "/ask",
    "/boilerplate",
    "/decisions",
    "/document?id=nothing",
)


@pytest.fixture(scope="module")
def clusters(service: Service) -> dict[str, str]:
    """The ids of a cluster about whose documents there are decisions, and of one with charts."""
    words = [f"version{number}" for number in range(60)]
    texts = [" ".join(words), " ".join([*words, "more"]), " ".join([*words[20:], *words[:20]])]
    versions = [
        {"id": f"version {number}", "text": text, "dated_at": number * 10**15} for number, text in enumerate(texts, 1)
    ]
    assert service("POST", "/v1/documents:add", {"documents": versions}).status == 200
    for one in ({"kind": "keep", "id": "page 1 right"}, {"kind": "keep", "id": "page 1 left"}):
        assert service("POST", "/v1/decisions", {**one, "who": "Ada", "reason": "better"}).status == 201
    found = [service("GET", f"/v1/clusters?holding={part}").json["items"] for part in ("page+1+left", "version+1")]
    return {name: one[0]["cluster"] for name, one in zip(("cluster", "versions"), found, strict=True)}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_fault(
    browser: webdriver.Chrome, service: Service, clusters: dict[str, str], page: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(service.address + page.format(**clusters))
    browser.execute_script(files("axe_core_python").joinpath("axe.min.js").read_text())
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(found["passes"]) > 10
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
