"""The site builds strictly; every link in it leads somewhere; every public name has one place."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

import mechdesign

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow

AXE = ROOT / "docs" / "explorer" / "node_modules" / "axe-core" / "axe.min.js"

EXPLORER = "explorer/dist/index.html"

WIDE = """() => {
    const width = document.documentElement.clientWidth
    const hidden = e => getComputedStyle(e).overflowX !== 'visible'
    const scrolls = e => e && (hidden(e) || scrolls(e.parentElement))
    return [...document.querySelectorAll('.md-content *')]
        .filter(e => e.getBoundingClientRect().right > width + 2 && !scrolls(e))
        .map(e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`)
}"""
"""What is cut off on the right and cannot be scrolled to."""

SCROLLED = """() => [...document.querySelectorAll('.md-content table')]
    .filter(e => e.scrollWidth > e.parentElement.parentElement.clientWidth + 1)
    .map(e => `${e.scrollWidth} ${e.textContent.slice(0, 40)}`)"""
"""Tables that are wider than their box."""

EXTERNAL = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s<>\"]*)?(#\S+)?|mailto:\S+@\S+")


class Page(HTMLParser):
    """What a page says of itself and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.pictures: list[dict[str, str]] = []
        self.description = self.title = ""
        self.headings = 0
        self._titled = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.ids.append(found["id"])
        self.links += [found[key] for key in ("href", "src") if key in found]
        self.headings += tag == "h1"
        if tag == "img":
            self.pictures.append(found)
        elif tag == "meta" and found.get("name") == "description":
            self.description = found["content"]
        self._titled = tag == "title"

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title, self._titled = data.strip(), False


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site from a copy of what it is made of."""
    for package in ("zensical", "mkdocstrings_handlers", "latex2mathml", "nbformat"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("checkout")
    left_out = shutil.ignore_patterns(
        "__pycache__", "node_modules", "dist", "explorer_page", "course", "reference"
    )
    for name in ("docs", "mechdesign", "notebooks", "problems"):
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    built = subprocess.run(
        [sys.executable, "docs/build.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "NO_COLOR": "1", "NO_EXPLORER": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    said = built.stdout + built.stderr
    assert built.returncode == 0, said
    assert "No issues found" in said
    assert "griffe" not in said, said
    return folder / "site"


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    """Return all pages by their path."""
    return {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(
    site: Path, pages: dict[str, Page]
) -> None:
    assert len(pages) > 60
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http", "mailto:")):
                if not EXTERNAL.fullmatch(link):
                    wrong.append((path, link, "no address"))
                continue
            if link.startswith("data:"):
                continue
            target, anchor = urldefrag(urljoin(f"/{path}", link))
            file = unquote(urlsplit(target).path).lstrip("/")
            file = f"{file}index.html" if not file or file.endswith("/") else file
            if path == "404.html":  # is shown anywhere, so its links start at the root
                continue
            if not (site / file).is_file():
                wrong.append((path, link, "no file"))
            elif file == EXPLORER:  # its anchors are problems, and its tests open them
                continue
            elif anchor and file in pages and unquote(anchor) not in {*pages[file].ids, "__skip"}:
                wrong.append((path, link, "no anchor"))
    assert wrong == []


def test_every_page_has_a_title_a_description_and_names_its_pictures(
    pages: dict[str, Page],
) -> None:
    own = {path: page for path, page in pages.items() if path != "404.html"}
    for path, page in own.items():
        assert page.title, path
        assert page.headings == 1, path
        assert 20 <= len(page.description) <= 300, (path, page.description)
        assert [name for name, n in Counter(page.ids).items() if n > 1] == [], path
        assert all("alt" in picture for picture in page.pictures), path
    for said in ("title", "description"):
        counts = Counter(getattr(page, said) for page in own.values())
        assert [text for text, n in counts.items() if n > 1] == []


def test_every_public_name_has_one_place_in_the_reference(pages: dict[str, Page]) -> None:
    public = [name for name in mechdesign.__all__ if name not in mechdesign.NAMESPACES]
    names = {f"mechdesign.{name}" for name in public}
    found = Counter(name for page in pages.values() for name in page.ids if name in names)
    assert found == Counter(names)


def test_the_course_and_the_gallery_are_complete(site: Path, pages: dict[str, Page]) -> None:
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        page = pages[f"course/{notebook.stem}/index.html"]
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        drawn = sum("image/png" in o.get("data", {}) for c in cells for o in c.get("outputs", ()))
        assert len(page.pictures) == drawn
        text = (site / "course" / notebook.stem / "index.html").read_text(encoding="utf-8")
        assert text.count("<math") >= 3
        opened = [link for link in page.links if EXPLORER in link and "#part=" in link]
        assert len(opened) == 1
        assert "$" not in re.sub(r"<(code|pre|script)\b.*?</\1>", "", text, flags=re.DOTALL)
    scripts = sorted(path.stem for path in (ROOT / "docs" / "gallery").glob("*.py"))
    assert set(scripts) <= set(pages["gallery/index.html"].ids)
    assert {path.stem for path in (site / "gallery").glob("*.png")} == set(scripts)


def test_the_search_knows_every_page(site: Path, pages: dict[str, Page]) -> None:
    text = (site / "search.json").read_text(encoding="utf-8")
    for word in ("randomized response", "min_epsilon", "Proof-carrying"):
        assert word in text
    for path in pages:
        if path not in ("404.html", EXPLORER):
            assert path.removesuffix("index.html") in text, path


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def tab(site: Path, chromium: Any) -> Iterator[Any]:
    """Open a tab of a browser whose addresses are those of the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield chromium.new_page(base_url=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


LOOKED_AT = ("", "how_to/locations/", "reference/design/", "gallery/", "glossary/", "course/")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(tab: Any, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in docs/explorer")
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for path in LOOKED_AT:
        tab.goto(f"/{path}")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        faults = tab.evaluate("axe.run(document)")["violations"]
        assert [
            (f["id"], f["nodes"]) for f in faults if f["impact"] in ("serious", "critical")
        ] == []


def test_no_page_is_wider_than_a_phone(tab: Any, pages: dict[str, Page]) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    for path in pages:
        if path not in ("404.html", EXPLORER):
            tab.goto(f"/{path}")
            assert tab.evaluate(WIDE) == [], path
            assert tab.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_every_table_fits_a_desk(tab: Any, pages: dict[str, Page]) -> None:
    tab.set_viewport_size({"width": 1280, "height": 900})
    for path in pages:
        if path not in ("404.html", EXPLORER):
            tab.goto(f"/{path}")
            assert tab.evaluate(SCROLLED) == [], path


def test_pictures_are_not_white_in_the_dark(tab: Any, pages: dict[str, Page]) -> None:
    tab.emulate_media(color_scheme="dark")
    for path, page in pages.items():
        if page.pictures and path != EXPLORER:
            tab.goto(f"/{path}")
            filters = tab.evaluate(
                "[...document.querySelectorAll('article img')].map(e => getComputedStyle(e).filter)"
            )
            assert all("invert" in each for each in filters), path


def test_a_search_leads_to_the_reference(tab: Any) -> None:
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto("/")
    tab.keyboard.press("/")
    tab.keyboard.type("min_epsilon")
    found = "a[href*='/reference/design/'][href$='#mechdesign.min_epsilon']"
    tab.wait_for_selector(found, timeout=30_000)


def test_formulas_are_drawn(tab: Any) -> None:
    tab.goto("/course/02_notions_as_cones/")
    drawn = tab.evaluate(
        "[...document.querySelectorAll('math')].map(e => e.getBoundingClientRect().height)"
    )
    assert len(drawn) > 20
    assert min(drawn) > 5
