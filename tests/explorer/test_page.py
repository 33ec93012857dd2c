"""The page in a browser: its five parts, what they show against Python, and who can use them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from mechdesign import Problem, design
from mechdesign.channel import Channel
from mechdesign.cli.explore import PageServer
from mechdesign.estimation import estimate
from mechdesign.files import load_problem, save
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.verify import verify
from mechdesign.notions import LDP, LIP, MetricPrivacy
from mechdesign.utilities import HammingLoss, MeanAbsoluteError, MutualInformation
from tests.documents import sealed
from tests.explorer_support import EXPLORER, need_node, stated

pytestmark = pytest.mark.slow

ROOT = EXPLORER.parents[1]
PICTURES = os.environ.get("EXPLORER_PICTURES")
"""Where pictures of the page are kept; nowhere by default."""

SIZES = {"desktop": (1100, 860), "phone": (390, 800)}
PARTS = ("design", "prove", "cone", "atlas", "collect")
MOST_BYTES = 1_000_000
PATIENCE = 60_000
"""Milliseconds that anything may take on a busy machine."""


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    """Build the page, and serve it as the command does."""
    need_node()
    subprocess.run(["node", "build.mjs"], cwd=EXPLORER, check=True, timeout=120)
    with PageServer(EXPLORER / "dist") as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


class Visit:
    """Somebody at the page.

    Parameters
    ----------
    browser, server
        Where the page is seen, and where it is from.
    size
        ``"desktop"`` or ``"phone"``.
    """

    def __init__(
        self, browser: Any, server: PageServer, size: str = "desktop", **more: Any
    ) -> None:
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        self.context = browser.new_context(viewport=viewport, reduced_motion="reduce", **more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.address = server.address
        self.bytes, self.paths, self.errors = 0, [], list[str]()
        self.page.on("response", self._count)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _count(self, response: Any) -> None:
        self.bytes += int(response.headers.get("content-length", 0))
        self.paths.append(response.url.rsplit("/", 1)[1])

    def open(self, problem: Problem | None = None, part: str = "design") -> Visit:
        """Go to a part with a problem, and wait for the first design."""
        words = "" if problem is None else f"&problem={quote(json.dumps(stated(problem)))}"
        self.page.goto(f"{self.address}#part={part}{words}")
        self.page.wait_for_function("document.body.dataset.value !== undefined")
        return self

    def part(self, name: str) -> None:
        """Open another part."""
        self.page.click(f"#tab-{name}")

    @property
    def value(self) -> float:
        """The value of the channel that is shown."""
        return float(self.page.evaluate("document.body.dataset.value"))

    def verdict(self, kind: str) -> str:
        """Wait for the checker, and return what it says."""
        self.page.wait_for_selector(f"#verdict.{kind}")
        return str(self.page.inner_text("#verdict"))

    def drop(self, path: Path) -> None:
        """Give a file to the part that proves."""
        number = int(self.page.evaluate("document.getElementById('verdict').dataset.number || 0"))
        self.page.set_input_files("#file", str(path))
        self.page.wait_for_function(
            "n => Number(document.getElementById('verdict').dataset.number) > n", arg=number
        )

    def picture(self, name: str) -> None:
        """Keep a small picture, where pictures are kept."""
        if PICTURES:
            from PIL import Image

            path = Path(PICTURES) / f"explorer_{name}.png"
            self.page.screenshot(path=path)
            Image.open(path).convert("RGB").quantize(160).save(path, optimize=True)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.errors == []


@pytest.fixture(params=SIZES)
def visit(request: pytest.FixtureRequest, chromium: Any, server: PageServer) -> Iterator[Visit]:
    with Visit(chromium, server, request.param) as found:
        yield found


@pytest.fixture
def desk(chromium: Any, server: PageServer) -> Iterator[Visit]:
    with Visit(chromium, server) as found:
        yield found


SURVEY = ROOT / "problems" / "lip" / "rare_disease.toml"
FOUR = Problem([1, 2, 3, 4], LDP(1), MeanAbsoluteError(), prior=["0.1", "0.3", "0.4", "0.2"])
THREE = Problem(
    ["low", "middle", "high"], LIP("0.7"), MutualInformation(), prior=["0.5", "0.3", "0.2"]
)


def test_the_first_view_is_small_and_without_webassembly(desk: Visit) -> None:
    desk.open()
    assert desk.bytes < MOST_BYTES
    assert not [path for path in desk.paths if path.endswith(".wasm")]
    ready = desk.page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
    assert ready < 2000


def check_value(visit: Visit, problem: Problem) -> None:
    """Assert that a value is that of the library, or nearer to its bound."""
    found = design(problem)
    sign = -1 if problem.utility.is_maximized else 1
    room = 1e-9 * abs(visit.value)
    assert sign * visit.value <= sign * float(found.value) + room, problem
    assert sign * visit.value >= sign * float(found.bound) - room, problem


def test_every_example_has_the_value_that_the_library_finds(visit: Visit) -> None:
    visit.open(load_problem(SURVEY))
    check_value(visit, load_problem(SURVEY))
    if PICTURES:
        visit.page.wait_for_selector("#curve circle.dot >> nth=20")
    visit.picture("design" if visit.page.viewport_size["width"] > 500 else "phone")
    for name in ("grades", "line", "map", "three"):
        before = visit.value
        visit.page.select_option("form select >> nth=0", name)
        visit.page.wait_for_function("v => Number(document.body.dataset.value) !== v", arg=before)
        with visit.page.expect_download() as saved:
            visit.page.click("text=Problem as TOML")
        check_value(visit, load_problem(saved.value.path()))


def test_what_the_page_saves_is_proved_by_the_library(desk: Visit) -> None:
    desk.open(FOUR)
    with desk.page.expect_download() as saved:
        desk.page.click("text=Channel as JSON")
    document = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert document["problem"] == FOUR.to_table()
    assert verify(document).value is not None
    for kind, head in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with desk.page.expect_download() as saved:
            desk.page.click(f"[aria-label='Save The best channel as {kind}']")
        assert saved.value.path().read_bytes().startswith(head)


def test_an_address_holds_the_problem(desk: Visit, chromium: Any, server: PageServer) -> None:
    desk.open(THREE)
    desk.page.fill("input[aria-label='Budget ε, exactly']", "1.3")
    desk.page.press("input[aria-label='Budget ε, exactly']", "Tab")
    desk.page.wait_for_function("location.hash.includes('1.3')")
    wanted = float(design(THREE.at("1.3")).value)
    desk.page.wait_for_function(
        "v => Math.abs(document.body.dataset.value / v - 1) < 1e-6", arg=wanted
    )
    with Visit(chromium, server) as other:
        other.page.goto(desk.page.url)
        other.page.wait_for_function("document.body.dataset.value !== undefined")
        assert other.value == desk.value == pytest.approx(wanted, rel=1e-9)


def test_a_turn_of_the_budget_at_twenty_inputs_is_quick(desk: Visit) -> None:
    desk.open(Problem(list(range(20)), LDP("1"), MeanAbsoluteError()))
    turns = []
    for n in range(6):
        before = desk.value
        desk.page.fill(".slider input[type=range]", str(0.5 + n / 4 if n != 2 else 2.8))
        desk.page.wait_for_function("v => Number(document.body.dataset.value) !== v", arg=before)
        turns.append(float(desk.page.evaluate("document.body.dataset.turn")))
    print("milliseconds of a turn at 20 inputs:", turns)
    assert min(turns) < 300, turns


def test_a_long_design_can_be_cancelled(desk: Visit) -> None:
    desk.open(FOUR)
    weights = [Fraction(x + 1, 48 * 49 // 2) for x in range(48)]
    notion = MetricPrivacy("0.1", "absolute")
    large = Problem(list(range(48)), notion, HammingLoss(), prior=weights)
    hash_of = f"#part=design&problem={quote(json.dumps(stated(large)))}"
    desk.page.evaluate("hash => { location.hash = hash }", hash_of)
    desk.page.wait_for_selector("#spinner:not([hidden])")
    desk.page.click("#cancel")
    assert "Cancelled" in desk.page.inner_text("#status")
    assert desk.page.is_hidden("#spinner")


def test_a_moved_entry_breaks_the_proof_and_the_repair_mends_it(visit: Visit) -> None:
    visit.open(FOUR, "prove")
    assert "ldp: private as stated, exactly" in visit.verdict("proved")
    assert "status optimal" in visit.verdict("proved")
    visit.page.fill("#entry-range", "0.9")
    assert "ldp: not private: column 0 breaks the row 0, 2" in visit.verdict("refused")
    assert "report 2: 1 against 3" in visit.page.inner_text("#broken")
    assert visit.page.locator("#integers .mark.broken").count() > 0
    if visit.page.viewport_size["width"] > 500:
        visit.picture("prove")
    visit.page.click("#repair")
    assert "private as stated" in visit.verdict("proved")
    visit.page.uncheck("#keeps-sums")
    visit.page.fill("#entry-range", "0.5")
    assert "row 0 of the channel does not sum to 2**62" in visit.verdict("refused")


def test_a_certificate_of_the_library_is_proved_and_a_forged_one_refused(
    desk: Visit, tmp_path: Path
) -> None:
    path, forged = tmp_path / "channel.json", tmp_path / "forged.json"
    save(design(FOUR), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    desk.open(FOUR, "prove")
    desk.verdict("proved")
    desk.drop(path)
    assert "no private channel has a loss below" in desk.verdict("proved")
    document["bound"] = document["value"] = document["value"] / 2
    forged.write_text(json.dumps(document), encoding="utf-8")
    desk.drop(forged)
    assert "digest" in desk.verdict("refused")
    forged.write_text(json.dumps(sealed(document)), encoding="utf-8")
    desk.drop(forged)
    assert "the value is" in desk.verdict("refused")
    forged.write_text("no JSON", encoding="utf-8")
    desk.drop(forged)
    assert "no JSON file" in desk.verdict("refused")


def rays_of_three(statement: Statement) -> list[Any]:
    """Return the extreme rays of a cone on three inputs, where two planes meet in it."""
    rows = [*np.array(statement.rows(), dtype=float), *-np.eye(3)]
    found: list[Any] = []
    for one, other in combinations(rows, 2):
        ray = np.cross(one, other)
        if not ray.any():
            continue
        ray /= ray[np.argmax(abs(ray))]
        new = all(abs(ray - known).max() > 1e-9 for known in found)
        if new and all(row @ ray <= 1e-12 for row in rows):
            found.append(ray)
    return found


def test_the_rays_of_the_cone_are_those_of_the_checker(visit: Visit) -> None:
    visit.open(THREE, "cone")
    visit.page.wait_for_selector("#rays tr:has-text('report')")
    shown = visit.page.evaluate(
        "[...document.querySelectorAll('#rays tbody tr')]"
        ".map(row => [row.firstChild.textContent, row.dataset.posterior.split(' ').map(Number)])"
    )
    prior = np.array([0.5, 0.3, 0.2])
    rays = rays_of_three(compile_problem(read(ProblemTable, THREE.to_table())).statement)
    wanted = sorted((prior * ray / (prior @ ray)).tolist() for ray in rays)
    found = sorted(point for name, point in shown if name.startswith("ray"))
    assert np.array(found) == pytest.approx(np.array(wanted), abs=1e-9)
    channel = design(THREE).channel.matrix
    columns = sorted((prior * q / (prior @ q)).tolist() for q in channel.T)
    reports = sorted(point for name, point in shown if name.startswith("report"))
    assert np.array(reports) == pytest.approx(np.array(columns), abs=1e-9)
    if visit.page.viewport_size["width"] > 500:
        visit.picture("cone")


def test_a_point_of_the_atlas_opens_in_design(visit: Visit) -> None:
    visit.open(FOUR, "atlas")
    visit.page.wait_for_selector("figure.map")
    maps = json.loads((EXPLORER / "atlas.json").read_text(encoding="utf-8"))["formulas"]
    assert visit.page.locator("figure.map").count() == len(maps)
    grr = visit.page.locator("figure.map", has_text="GRR, LDP: Hamming loss, four inputs")
    cell = grr.locator("[data-cell='4,10']")
    cell.hover()
    said = visit.page.inner_text("#atlas-readout")
    assert "ε 1, prior of the rarest input 0.04" in said
    if visit.page.viewport_size["width"] > 500:
        visit.picture("atlas")
    before = visit.value
    cell.click()
    visit.page.wait_for_function("v => Number(document.body.dataset.value) !== v", arg=before)
    assert visit.page.is_visible("#controls")
    assert visit.value == pytest.approx(float(said.rsplit(" ", 1)[1]), rel=1e-4)


def test_estimates_are_those_of_the_library(visit: Visit) -> None:
    problem = Problem(["a", "b", "c"], LDP("1.5"), MutualInformation(), prior=["0.5", "0.3", "0.2"])
    visit.open(problem, "collect")
    visit.page.wait_for_selector("#estimates")
    counts = visit.page.get_attribute("#estimates", "data-counts").split()
    shown = visit.page.evaluate(
        "[...document.querySelectorAll('#estimates tbody tr')]"
        ".map(row => [Number(row.dataset.estimate), Number(row.dataset.error)])"
    )
    assert sum(map(int, counts)) == 1000
    with visit.page.expect_download() as saved:
        visit.part("design")
        visit.page.click("text=Channel as JSON")
    document = json.loads(saved.value.path().read_text(encoding="utf-8"))["channel"]
    rows = [[int(v) for v in row] for row in document["numerators"]]
    channel = Channel(rows, inputs=["a", "b", "c"], outputs=document["outputs"], bits=62)
    wanted = estimate(channel, counts=[int(c) for c in counts], prior=problem.prior)
    assert np.array(shown).T[0] == pytest.approx(np.asarray(wanted.values), abs=1e-9)
    assert np.array(shown).T[1] == pytest.approx(np.asarray(wanted.standard_errors), abs=1e-9)
    visit.part("collect")
    if visit.page.viewport_size["width"] > 500:
        visit.picture("collect")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(chromium: Any, server: PageServer, scheme: str) -> None:
    axe = (EXPLORER / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    with Visit(chromium, server, color_scheme=scheme, bypass_csp=True) as visit:
        visit.open(FOUR)
        visit.page.evaluate(axe)
        for part in PARTS:
            visit.part(part)
            if part == "prove":
                visit.verdict("proved")
            if part == "atlas":
                visit.page.wait_for_selector("figure.map")
            found = visit.page.evaluate("axe.run(document).then(r => r.violations)")
            serious = [
                (fault["id"], [node["html"] for node in fault["nodes"]][:3])
                for fault in found
                if fault["impact"] in ("serious", "critical")
            ]
            assert serious == [], part
        if scheme == "dark":
            visit.part("design")
            visit.picture("dark")


def test_everything_can_be_reached_by_the_keyboard(desk: Visit) -> None:
    desk.open(FOUR)
    desk.page.focus("#tab-design")
    for part in (*PARTS[1:], PARTS[0]):
        desk.page.keyboard.press("ArrowRight")
        assert desk.page.evaluate("document.activeElement.id") == f"tab-{part}"
        assert desk.page.is_visible(f"#{part}")
    desk.page.focus("svg.heat >> nth=0")
    desk.page.keyboard.press("ArrowRight")
    assert "input 1, report 3: 0." in desk.page.inner_text(".readout >> nth=0")


def test_a_pair_of_ones_own_matrix_is_freed_by_a_click(desk: Visit) -> None:
    desk.open(FOUR)
    desk.page.select_option("form select >> nth=1", "context-aware")
    pair = desk.page.locator("table.pairs [aria-label='1 against 2: bounded']")
    assert pair.get_attribute("aria-pressed") == "true"
    pair.click()
    desk.page.wait_for_selector("table.pairs [aria-label='1 against 2: free'][aria-pressed=false]")
    with desk.page.expect_download() as saved:
        desk.page.click("text=Problem as TOML")
    problem = load_problem(saved.value.path())
    assert problem.to_table()["privacy"][0]["matrix"][0] == ["0", "inf", "1", "1"]
    desk.page.wait_for_function(
        "v => Math.abs(document.body.dataset.value - v) < 1e-9", arg=float(design(problem).value)
    )


@pytest.mark.parametrize("part", PARTS)
def test_no_part_is_wider_than_a_phone(chromium: Any, server: PageServer, part: str) -> None:
    with Visit(chromium, server, "phone") as visit:
        visit.open(FOUR, part)
        if part == "atlas":
            visit.page.wait_for_selector("figure.map")
        wide = visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, part


def test_a_given_channel_is_verified_as_it_stands(chromium: Any, server: PageServer) -> None:
    document = sealed({**design(FOUR).document(), "title": "from a file"})
    for given, kind in ((document, "proved"), ({**document, "value": 0.5}, "refused")):
        with PageServer(EXPLORER / "dist", json.dumps(given).encode()) as own:
            thread = threading.Thread(target=own.serve_forever)
            thread.start()
            with Visit(chromium, own) as visit:
                visit.page.goto(own.address)
                visit.verdict(kind)
                assert visit.page.is_visible("#prove")
            own.shutdown()
            thread.join()


@pytest.mark.parametrize("part", [None, "cone"])
def test_the_command_gives_the_page_its_problem(
    chromium: Any, server: PageServer, part: str | None
) -> None:
    given = json.dumps({"title": "given", "problem": THREE.to_table()}).encode()
    with PageServer(EXPLORER / "dist", given, part=part) as own:
        thread = threading.Thread(target=own.serve_forever)
        thread.start()
        with Visit(chromium, own) as visit:
            visit.page.goto(own.address)
            visit.page.wait_for_function("location.hash.includes('middle')")
            wanted = float(design(THREE).value)
            visit.page.wait_for_function(
                "v => Math.abs(document.body.dataset.value - v) < 1e-9", arg=wanted
            )
            assert visit.page.is_visible(f"#{part or 'design'}")
        own.shutdown()
        thread.join()


def test_the_links_of_the_course_open_their_problems(chromium: Any, server: PageServer) -> None:
    course = pytest.importorskip("docs.generate.course", reason="pip install -e '.[docs]'")
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        first = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]
        (words,) = re.findall(r"`mechdesign explore([^`]*)`", "".join(first["source"]))
        fragment = course.in_explorer(words.split(), notebook).partition("#")[2]
        with Visit(chromium, server) as visit:
            visit.page.goto(f"{server.address}#{fragment}")
            visit.page.wait_for_function("document.body.dataset.value !== undefined")
            part = re.match(r"part=(\w+)", fragment)
            assert visit.page.is_visible(f"#{part[1]}"), notebook.name
            assert visit.page.inner_text("#status") == "", notebook.name
