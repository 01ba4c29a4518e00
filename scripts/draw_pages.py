"""Draw the screenshots of docs/serve.md: ``python -m scripts.draw_pages``.

Needs chromium, chromium-driver and Pillow.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from lshdb import Decision, Document, Index
from lshdb.ingest.options import IngestOptions
from lshdb.readers import ReadOptions
from lshdb.web.options import ServeOptions
from lshdb.web.report import report
from tests.web.conftest import serving

ROOT: Final = Path(__file__).parents[1]
FIGURES: Final = ROOT / "docs" / "figures"
INSTALL: Final = {"a": "crawl/docs/1.0/install.html", "b": "crawl/docs/2.0/install.html"}
PAGES: Final = {"overview": "/", "clusters": "/clusters", "compare": f"/compare?{urlencode(INSTALL)}", "ask": "/ask"}
BRIDGE: Final = "crawl/gazette/2023/footbridge-reopens.html"
DECISIONS: Final = (
    Decision("keep", BRIDGE, who="Ada", reason="the version in the archive"),
    Decision(
        "different", "crawl/docs/1.0/restore.html", "crawl/docs/2.0/restore.html", who="Grace", reason="two versions"
    ),
)
# In microseconds.
DAY: Final = 86_400_000_000
# Width and height.
SCREENS: Final = ((1280, 900), (390, 844))
# Text on plain ground needs few; the files take a third.
COLOURS: Final = 48


def main() -> None:
    """Write a file for each page, width and colour scheme."""
    out = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else FIGURES
    sample = ROOT / "sample_data"
    # The pages show the name of the index as it was given.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        with Index.create("crawl.db") as index:
            index.ingest([sample / "crawl"], IngestOptions(read=ReadOptions(base=sample)))
            asked = index.get("crawl/recipes/plum-cake.md")
            Path("report.html").write_text(report(index), encoding="utf-8")
        with serving("crawl.db", ServeOptions()) as service:
            places = {name: f"{service.address}{path}" for name, path in PAGES.items()}
            places["report"] = Path("report.html").absolute().as_uri()
            draw(places, "" if asked is None else asked.text.replace("September", "August"), out)
        # Before the service starts, which may keep what it has computed for some seconds.
        decided = _decided("crawl.db")
        with serving("crawl.db", ServeOptions(writable=True)) as service:
            draw({name: f"{service.address}{path}" for name, path in decided.items()}, "", out)
        with serving(_versions("versions.db", asked.text if asked else ""), ServeOptions()) as service:
            cluster = service("GET", "/v1/clusters").json["items"][0]["cluster"]
            places = {"texts": f"{service.address}/cluster?cluster={cluster}#texts"}
            draw(places | {"moved": f"{service.address}/compare?a=version+8&b=version+9#words"}, "", out)


def _decided(path: str) -> dict[str, str]:
    """Decide about documents, and return the pages that show it."""
    with Index.open(path) as index:
        for one in DECISIONS:
            index.decide(one)
        cluster = next(one.cluster for one in index.clusters() if one.keep == BRIDGE)
    return {"cluster": f"/cluster?cluster={cluster}", "decisions": "/decisions"}


def _versions(path: str, text: str) -> str:
    """Make an index of nine versions of a text, each with more words replaced; in the last one, the end has moved."""
    words, documents = text.split(" "), []
    for number in range(9):
        for place in range(9 * number, 9 * number + 3 * (number % 3)):
            words[2 * place % len(words)] = "plums"
        if number == 8:
            words = [*words[-30:], *words[:-30]]
        documents.append(Document(f"version {number + 1}", " ".join(words), dated_at=(19_000 + 15 * number**2) * DAY))
    with Index.create(path) as index:
        index.add(documents)
    return path


def draw(places: dict[str, str], asked: str, out: Path) -> None:
    """Write the screenshots of pages. Args: places: their addresses by name."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    for name, place in places.items():
        for scheme in ("light", "dark"):
            for width, height in SCREENS:
                _show(browser, width, height, scheme)
                browser.get(place)
                if name == "ask":
                    browser.find_element(By.NAME, "text").send_keys(asked)
                    time.sleep(2)
                picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
                picture.quantize(COLOURS).save(out / f"page-{name}-{width}-{scheme}.png", optimize=True)
    browser.quit()


def _show(browser: webdriver.Chrome, width: int, height: int, scheme: str) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 400}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


if __name__ == "__main__":
    main()
