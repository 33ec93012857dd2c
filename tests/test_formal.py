"""The checker that a proof assistant proved: it builds, assumes nothing, and agrees with `verify`.

The proofs are in ``formal/``. Where ``coqc`` or zarith is missing these tests are skipped.
"""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mechdesign.errors import MechdesignError
from mechdesign.files.listing import UnprovedError, listing
from mechdesign.kernel.verify import verify
from tests.kernel.changes import Changer
from tests.kernel.honest import draw_document
from tests.kernel.test_independent import SHAPES, designed

Document = dict[str, Any]
Check = Callable[[str], int]

FORMAL = Path(__file__).parent.parent / "formal"

CLASSICAL_REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""What the real numbers of the standard library assume."""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=5000, check=False
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the folder in which all is proved and compiled."""
    if shutil.which("coqc") is None or shutil.which("ocamlfind") is None:
        pytest.skip("no coqc here: apt install coq ocaml-nox libzarith-ocaml-dev")
    if run(FORMAL, "ocamlfind", "query", "zarith").returncode:
        pytest.skip("no zarith here: apt install libzarith-ocaml-dev")
    folder = tmp_path_factory.mktemp("formal") / "formal"
    shutil.copytree(FORMAL, folder)  # with what `make` left there, if it is not older
    done = run(folder, "make")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def check(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Return the checker: from a listing to its exit status."""
    place = tmp_path_factory.mktemp("listings") / "listing"

    def status(text: str) -> int:
        place.write_text(text)
        return run(built, "./mechdesign-check", str(place)).returncode

    return status


def listed(document: Document) -> str | None:
    """Return the listing, None for what is malformed or outside of what the checker knows."""
    try:
        return listing(document)
    except (MechdesignError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None


def refusal(document: Document) -> str:
    """Return why `verify` refuses a document, "" if it does not."""
    try:
        verify(document)
    except MechdesignError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def pool() -> list[Document]:
    """Honest files within what the checker knows."""
    drawn = map(draw_document, range(100))
    return [document for document in drawn if listed(document) and not refusal(document)]


def test_that_nothing_is_assumed_but_the_classical_reals(built: Path) -> None:
    printed = run(built, "coqc", "-q", "-Q", ".", "", "Theorems.v").stdout
    assert printed.count("Axioms:") == (FORMAL / "Theorems.v").read_text().count(
        "Print Assumptions"
    )
    assert set(re.findall(r"^(\w+\.\w+)", printed, re.MULTILINE)) == CLASSICAL_REALS
    for path in FORMAL.glob("*.v"):
        words = re.sub(r"\(\*.*?\*\)", "", path.read_text(), flags=re.DOTALL)
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Hypothesis)\b", words)


def test_that_honest_files_are_proved(check: Check, pool: list[Document]) -> None:
    assert len(pool) > 10
    for document in pool:
        assert check(listing(document)) == 0


def judge(check: Check, pool: list[Document], count: int, seed: int) -> dict[str, int]:
    """Compare the checker with `verify` on changed files; return how many were in its range."""
    changer, seen = Changer(pool, seed), {"": 0, "refused": 0}
    for _ in range(count):
        document, _ = changer.document()
        text, why = listed(document), refusal(document)
        if text is None:
            continue
        if not why:
            assert check(text) == 0, document
        elif "not private" in why or "the bound proved" in why:
            assert check(text) != 0, document
        seen["refused" if why else ""] += 1
    return seen


def test_that_changed_files_are_judged_as_verify_does(check: Check, pool: list[Document]) -> None:
    assert min(judge(check, pool, 600, seed=29).values()) > 20


@pytest.mark.long
def test_that_twenty_thousand_changed_files_are_judged_as_verify_does(
    check: Check, pool: list[Document]
) -> None:
    assert min(judge(check, pool, 20_000, seed=30).values()) > 1000


def test_that_most_designs_are_in_range_and_proved(check: Check) -> None:
    texts = {name: listed(designed(name)) for name in SHAPES}
    inside = {name: text for name, text in texts.items() if text is not None}
    for name, text in inside.items():
        assert check(text) == 0, name
        assert not refusal(designed(name)), name
    assert len(inside) >= 0.6 * len(SHAPES)


def test_that_a_bound_just_above_the_value_is_refused(check: Check, pool: list[Document]) -> None:
    for document in pool:
        words = listing(document).split()
        place = words.index("bound") + 1
        assert check(" ".join(words)) == 0
        value = Fraction(words[words.index("value") + 1])
        words[place] = str(value + Fraction(1, 10**6))
        assert check(" ".join(words)) == 1


def test_unknown_words_are_refused_by_name(pool: list[Document]) -> None:
    document = copy.deepcopy(pool[0])
    document["certificate"]["relaxations"] = [{"kind": "implied"}]
    with pytest.raises(UnprovedError, match="the relaxation 'implied'"):
        listing(document)


@pytest.mark.parametrize(
    "text",
    ["", "mechdesign-listing 2", "mechdesign-listing 1 inputs x", "mechdesign-listing 1 inputs -1"],
)
def test_that_no_listing_is_read_twice_as_wrong(check: Check, text: str) -> None:
    assert check(text) == 2


MUTATIONS = {
    "an exponential is rounded up": ("Exponential", "(size_floor a) (", "(size_ceil a) ("),
    "entries may be negative": ("Privacy", " && forallb (Z.leb 0) q) columns", ") columns"),
    "the largest of a block": ("Privacy", "Some w => Z.min v w", "Some w => Z.max v w"),
    "multipliers may be negative": ("Cone", "if 0 <=? weight m then", "if true then"),
    "a walk takes the wrong end": ("Line", "then down else up", "then up else down"),
    "a level is not lowered": ("OneBudget", "else level + w / (ONE * shares ps)", "else level"),
    "nodes are joined by the largest": ("Bound", "Z.min (fst p)", "Z.max (fst p)"),
    "a ray is tight nowhere": ("Describe", "&& includes (snd new) want then", "&& true then"),
    "the least of a box": ("Priors", "Z.max (l * (v - t)) (h", "Z.min (l * (v - t)) (h"),
}
"""Changes of the checker that would let it accept a forgery: file, old text and new text."""


SLOW = {"an exponential is rounded up", "entries may be negative", "the largest of a block"}
"""All later files are compiled again before the proof that breaks."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in MUTATIONS]
)
def test_that_a_change_of_the_checker_breaks_a_proof(
    name: str, built: Path, tmp_path: Path
) -> None:
    folder, (file, old, new) = tmp_path / "formal", MUTATIONS[name]
    shutil.copytree(built, folder)
    path = folder / f"{file}.v"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    done = run(folder, "make", "proofs")
    assert done.returncode != 0
    assert "Error" in done.stderr
