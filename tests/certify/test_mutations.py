"""Changed files: `verify` accepts one only where a second verifier does, and then it is true.

The mutator knows trees of JSON and their text, moves keys within and between files, gives every
change the digest that fits, and makes half of them consistent: forgeries. The fast half tries a
thousand of them, the slow half 20,000, with the seeds below.
"""

from __future__ import annotations

import collections
import copy
import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize
from hypothesis import given, strategies as st

from mechdesign.errors import CertificateError, InputError
from mechdesign.files import load_mechanism
from tests.corpus import CASES, document_of
from tests.independent.bounds import MAXIMIZED, READ, RISKS, Problem, Prover, gain
from tests.independent.files import RefusedError, Unable, check, check_text, read_problem
from tests.independent.privacy import SUMS
from tests.independent.reading import parse
from tests.mutations import SPARE, Document, Mutator, digest, places, reach
from tests.strategies import ORACLE, TIGHT, examples

FloatArray = npt.NDArray[np.float64]

SEED = 13


@functools.cache
def pool(step: int) -> list[Document]:
    """Return every so manieth file of the corpus, but for the long ones."""
    documents = [document_of(name) for name in list(CASES)[::step]]
    return [document for document in documents if len(json.dumps(document)) < 20_000]


def accepted(raw: bytes, file: Path) -> bool:
    """Ask the library, in the way of ``mechdesign verify``; nothing but its own errors may come."""
    file.write_bytes(raw)
    try:
        load_mechanism(file)
    except (CertificateError, InputError):
        return False
    return True


def optimum(problem: Problem) -> float | None:
    """Return the optimum by a linear program over all extreme rays, in floats."""
    if problem.objective in RISKS or any(notion.name in SUMS for notion in problem.notions):
        return None
    exact = Prover(problem).rays()
    rays = np.array([[float(v) for v in q] for q in exact])
    k = problem.k
    if problem.objective == READ:
        return least_variance(problem, rays)
    if problem.losses is None:
        gains = np.array([float(gain(problem, q)[0]) for q in exact])
        found = scipy.optimize.linprog(-gains, A_eq=rays.T, b_eq=np.ones(k), options=dict(TIGHT))
        assert found.status == 0, found.message
        gained = float(-found.fun)
        if problem.objective in MAXIMIZED:
            return gained
        square = (
            1.0
            if problem.f is None
            else sum(float(p * v * v) for p, v in zip(problem.prior, problem.f, strict=True))
        )
        return square - gained
    losses = np.array([[float(low) for low, _ in row] for row in problem.losses])
    m = losses.shape[1]
    each = np.einsum("rx,xy->xry", rays, losses).reshape(k, -1)
    sums = np.repeat(rays.T, m, axis=1)
    if problem.worst:
        found = scipy.optimize.linprog(
            np.append(np.zeros(each.shape[1]), 1.0),
            np.hstack([each, -np.ones((k, 1))]),
            np.zeros(k),
            np.hstack([sums, np.zeros((k, 1))]),
            np.ones(k),
            options=dict(TIGHT),
        )
    else:
        prior = np.array([float(p) for p in problem.prior])
        found = scipy.optimize.linprog(
            prior @ each, A_eq=sums, b_eq=np.ones(k), options=dict(TIGHT)
        )
    assert found.status == 0, found.message
    return float(found.fun)


def least_variance(problem: Problem, rays: FloatArray) -> float:
    """Return the least variance: a program over pairs of a ray and a reading, which are added."""
    k, f = problem.k, np.array([float(v) for v in problem.f or ()])
    middle, half = (f.max() + f.min()) / 2, (f.max() - f.min()) / 2
    if not half:
        return 0.0
    f = (f - middle) / half
    P = np.array([float(p) for p in problem.prior])
    R, v = np.repeat(rays, 41, axis=0).T, np.tile(np.linspace(-20, 20, 41), len(rays))
    for _ in range(30):
        A, b = np.vstack([R, R * v]), np.concatenate([np.ones(k), f])
        if problem.worst:
            found = scipy.optimize.linprog(
                np.append(np.zeros(len(v)), 1.0),
                np.hstack([R * v**2, -np.ones((k, 1))]),
                f**2,
                np.pad(A, ((0, 0), (0, 1))),
                b,
                options=dict(TIGHT),
            )
            P = -found.ineqlin.marginals
        else:
            found = scipy.optimize.linprog(P @ (R * v**2), A_eq=A, b_eq=b, options=dict(TIGHT))
        assert found.status == 0, found.message
        best = (rays @ found.eqlin.marginals[k:]) / np.maximum(2 * rays @ P, 1e-9)
        # none is taken out, so that the program stays feasible within its tolerance
        R, v = np.hstack([R, rays.T]), np.append(v, np.clip(best, -1e3, 1e3))
    least = found.fun if problem.worst else found.fun - P @ f**2
    return float(least) * half**2


@functools.cache
def optimum_of(stated: str) -> float | None:
    return optimum(read_problem(json.loads(stated))[0])


def assert_true(document: Document) -> None:
    """Assert that no private channel is better than the file says."""
    if not document.get("bound_proved") or document["bound"] is None:
        return
    try:
        best = optimum_of(json.dumps(document["problem"]))
    except Unable:
        return
    if best is None:
        return
    sign = -1 if document["sense"] == "maximize" else 1
    assert sign * document["bound"] <= sign * best + 10 * ORACLE * max(1.0, abs(best))


def compare(mutator: Mutator, count: int, file: Path) -> collections.Counter[str]:
    ends: collections.Counter[str] = collections.Counter()
    for number in range(count):
        raw = mutator.text() if number % 4 == 0 else json.dumps(mutator.tree()).encode()
        if not accepted(raw, file):
            ends["refused"] += 1
            continue
        try:
            check_text(raw)
        except RefusedError as error:
            kept = file.with_name(f"disagreement_{number}.json")
            kept.write_bytes(raw)
            pytest.fail(f"mutant {number} is accepted, and {error} is wrong in it: {kept}")
        except Unable:
            ends["too large"] += 1
            continue
        ends["accepted"] += 1
        assert_true(parse(raw))
    return ends


ENTRIES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.sampled_from(["0", "1", "1/3", "inf", "0.5", "rays", "upper", "ldp", "hamming"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@examples(40)
@given(st.data())
def test_anything_at_any_place(data: st.DataObject) -> None:
    """Put any value of JSON in place of any entry, or beside any key."""
    document = copy.deepcopy(data.draw(st.sampled_from(pool(8))))
    *rest, key = data.draw(st.sampled_from(list(places(document))))
    place = reach(document, tuple(rest))
    if isinstance(place, dict) and data.draw(st.booleans()):
        key = data.draw(st.text(max_size=4) | st.sampled_from(sorted(SPARE)))
    place[key] = data.draw(ENTRIES)
    document["digest"] = digest(document)
    with tempfile.TemporaryDirectory() as folder:
        if accepted(json.dumps(document).encode(), Path(folder) / "file.json"):
            check(document)


def test_the_optimum_of_honest_files_is_what_they_say() -> None:
    """The linear program over the rays meets the value, where the file says optimal."""
    for document in pool(8):
        if document.get("bound_proved") and document["status"] == "optimal":
            best = optimum_of(json.dumps(document["problem"]))
            if best is not None:
                assert document["value"] == pytest.approx(best, rel=1e-5, abs=1e-7)
            assert_true(document)


def test_a_thousand_changed_files(tmp_path: Path) -> None:
    ends = compare(Mutator(pool(8), SEED), 1000, tmp_path / "file.json")
    assert ends["accepted"] > 50
    assert ends["refused"] > 500


@pytest.mark.long
@pytest.mark.slow
def test_twenty_thousand_changed_files(tmp_path: Path) -> None:
    ends = compare(Mutator(pool(1), SEED + 1), 20_000, tmp_path / "file.json")
    assert ends["accepted"] > 1000
    assert ends["too large"] < 20
