"""The pages in a real Chromium: a visit with the keyboard and the mouse, without an error, and without other hosts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("selenium", reason="needs selenium")

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from lshdb import Document, Index
from lshdb.web.options import ServeOptions
from lshdb.web.report import report
from tests.web.conftest import ELEVEN, TEN, Service, serving

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="needs chromium and chromium-driver"),
]

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)
SECONDS = 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index with 60 clusters."""
    path = str(tmp_path_factory.mktemp("browser") / "index.db")
    with Index.create(path) as index:
        for number in range(60):
            text = " ".join(f"word{number}x{place}" for place in range(30))
            index.add(
                [Document(f"page {number} left", text), Document(f"page {number} right", f"{text} more")], link=False
            )
        index.add([Document("<img src=x onerror=alert(1)>", ELEVEN), Document("b", TEN)])
    return path


@pytest.fixture(scope="module")
def service(path: str) -> Iterator[Service]:
    """A service of that index."""
    with serving(path, ServeOptions(writable=True)) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[webdriver.Chrome]:
    """A Chromium without a window."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = CHROMIUM or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(SECONDS)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome) -> webdriver.Chrome:
    """It, without messages and requests of earlier tests."""
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    return chromium


def requested(browser: webdriver.Chrome) -> set[str]:
    """Return the hosts that the browser has sent requests to."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return {urlsplit(url).netloc for url in sent if urlsplit(url).scheme in ("http", "https")}


def fit_telephone(browser: webdriver.Chrome) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_a_visit(browser: webdriver.Chrome, service: Service) -> None:
    # What is found may belong to the page that the browser is just leaving.
    wait = WebDriverWait(browser, SECONDS, ignored_exceptions=[StaleElementReferenceException])
    browser.get(service.address)
    assert browser.find_element(By.TAG_NAME, "h1").text == "Overview"
    # By keyboard: the first stop is the link that skips the navigation.
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the content"
    browser.find_element(By.LINK_TEXT, "Clusters").click()
    browser.find_element(By.LINK_TEXT, "Next").click()
    assert "51 to " in browser.find_element(By.TAG_NAME, "caption").text
    browser.find_element(By.NAME, "search").send_keys("onerror", Keys.ENTER)
    wait.until(lambda found: "1 cluster" in found.find_element(By.TAG_NAME, "caption").text)
    browser.find_element(By.LINK_TEXT, "<img src=x onerror=alert(1)>").click()
    browser.find_element(By.LINK_TEXT, "compare").click()
    assert browser.find_element(By.TAG_NAME, "del").text == "eleven"
    browser.find_element(By.LINK_TEXT, "Inline").click()
    assert len(browser.find_elements(By.CSS_SELECTOR, ".diff")) == 1
    browser.find_element(By.LINK_TEXT, "Ask").click()
    browser.find_element(By.NAME, "text").send_keys(f"{TEN} twelve")
    wait.until(lambda found: found.find_elements(By.CSS_SELECTOR, "#answer tbody tr"))
    assert "near-duplicate" in browser.find_element(By.ID, "answer").text
    assert browser.get_log("browser") == []
    assert requested(browser) == {urlsplit(service.address).netloc}


def test_clusters_are_found_by_a_text_and_drawn(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path, words = str(tmp_path / "index.db"), [f"w{number}" for number in range(60)]
    with Index.create(path) as index:
        texts = [" ".join([*words, *(["more"] * number)]) for number in range(12)]
        index.add([Document(f"page {n}", text, dated_at=n * 10**14) for n, text in enumerate(texts)])
        index.add([Document("turned", " ".join([*words[20:], *words[:20]])), Document("q" * 1_999, "q" * 20_000)])
    with serving(path, ServeOptions()) as service:
        browser.get(f"{service.address}/clusters")
        # Longer than an address may be.
        browser.find_element(By.NAME, "search").send_keys(texts[0].replace(" ", "  " * 3), Keys.ENTER)
        WebDriverWait(browser, SECONDS).until(lambda found: found.find_elements(By.LINK_TEXT, "page 0"))
        assert urlsplit(browser.current_url).query == ""
        browser.find_element(By.LINK_TEXT, "page 0").click()
        assert len(browser.find_elements(By.CSS_SELECTOR, "rect.hot")) == 78
        assert len(browser.find_elements(By.CSS_SELECTOR, "circle.dot")) == 12
        browser.find_element(By.LINK_TEXT, "turned").click()
        browser.find_element(By.CSS_SELECTOR, "a[href^='/compare'][href*='page+0']").click()
        browser.find_element(By.PARTIAL_LINK_TEXT, "moved").click()
        assert urlsplit(browser.current_url).fragment in ("away-1", "here-1")
        assert browser.get_log("browser") == []


def test_a_report_opens_from_disk(browser: webdriver.Chrome, path: str, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    with Index.open(path) as index:
        out.write_text(report(index), encoding="utf-8")
    fit_telephone(browser)
    browser.get(out.as_uri())
    first, last = (browser.find_elements(By.TAG_NAME, "details")[place] for place in (0, -1))
    assert [first.get_attribute("open"), last.get_attribute("open")] == ["true", None]
    last.find_element(By.TAG_NAME, "summary").click()
    assert last.find_element(By.TAG_NAME, "ins").text == "more"
    # The policy lets the style pass, and nothing else.
    assert browser.find_element(By.CLASS_NAME, "name").value_of_css_property("font-weight") == "650"
    assert browser.execute_script("return document.documentElement.scrollWidth") == 390
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert (browser.get_log("browser"), requested(browser)) == ([], set())


def test_decide_and_undo(browser: webdriver.Chrome, service: Service) -> None:
    def pressed(label: str) -> None:
        before = browser.find_element(By.TAG_NAME, "html")
        browser.find_element(By.XPATH, f"//button[starts-with(@aria-label, '{label}') or text()='{label}']").click()
        wait.until(staleness_of(before))

    # While a page is replaced, asking about a part of it may be an unknown error instead of a stale element.
    wait = WebDriverWait(browser, SECONDS, ignored_exceptions=[WebDriverException])
    browser.get(f"{service.address}/clusters?search=page+7+left")
    browser.find_element(By.LINK_TEXT, "page 7 left").click()
    # Without a name, the browser sends nothing; and Enter presses no button.
    browser.find_element(By.XPATH, "//button[text()='Keep']").click()
    browser.find_element(By.NAME, "who").send_keys("Ada <b>", Keys.ENTER)
    assert "added first" in browser.find_element(By.TAG_NAME, "main").text
    browser.find_element(By.NAME, "reason").send_keys("the better one")
    pressed("Keep: page 7 right")
    shown = browser.find_element(By.TAG_NAME, "main").text
    assert "Kept: page 7 right, as Ada <b> decided (the better one)." in shown
    pressed("Not a duplicate")
    assert "Somebody decided that they are not duplicates." in browser.find_element(By.CLASS_NAME, "verdict").text
    assert browser.find_element(By.NAME, "who").get_attribute("value") == "Ada <b>"
    browser.get(f"{service.address}/clusters?search=page+7+left")
    assert "0 clusters" in browser.find_element(By.TAG_NAME, "caption").text
    browser.find_element(By.LINK_TEXT, "Decisions").click()
    assert len(browser.find_elements(By.CSS_SELECTOR, "tbody tr")) == 2
    pressed("Undo decision 2")
    pressed("Undo decision 1")
    assert "There are none." in browser.find_element(By.TAG_NAME, "table").text
    browser.get(f"{service.address}/clusters?search=page+7+left")
    browser.find_element(By.LINK_TEXT, "page 7 left").click()
    assert "added first" in browser.find_element(By.TAG_NAME, "main").text
    assert browser.get_log("browser") == []
    assert requested(browser) == {urlsplit(service.address).netloc}


@pytest.mark.parametrize("page", ["/", "/clusters", "/compare?a=b&b=page+1+left", "/ask", "/boilerplate", "/decisions"])
def test_a_page_fits_a_telephone(browser: webdriver.Chrome, service: Service, page: str) -> None:
    fit_telephone(browser)
    browser.get(f"{service.address}{page}")
    assert browser.execute_script("return document.documentElement.scrollWidth") == 390
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
