"""Saved laws: honest ones pass, and any false claim is refused.

The proof of noise from its weights: whatever it accepts is private, pair by pair.
"""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import (
    CertificateError,
    Channel,
    Domain,
    HighLowLDP,
    LimitError,
    MetricPrivacy,
    Prior,
)
from mechdesign.exact import exp_lower_scaled
from mechdesign.kernel.arithmetic import BITS
from mechdesign.kernel.generators import Ball, Constant, Distance, Lift, Listed, Matrix, Ratio
from mechdesign.kernel.laws import WHOLE, LawFile, torus
from mechdesign.kernel.laws.ratios import (
    ByComponent as ByComponentLaw,
    ConstantLaw,
    LIPRandomizedResponse,
    Part,
    constant,
)
from mechdesign.kernel.schema import read, write
from mechdesign.kernel.verify import verify
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    GeometricNoise,
    HighLow,
    OptimizedUnaryEncoding,
    PlanarLaplace,
    SubsetSelection,
)
from mechdesign.mechanisms.torus_law import TorusLaw
from tests.documents import Document, as_read, refused, sealed
from tests.kernel.changes import Change, put
from tests.kernel.draws import refused as raised
from tests.kernel.laws.support import MADE, document_of
from tests.mechanisms_support import exact_table
from tests.strategies import examples


def law(*path: str | int, by: Any) -> Change:
    return put("law", *path, by)


kind, leakage = partial(put, "law", "kind"), partial(put, "privacy", 0, "leakage")
prior = partial(put, "problem", "prior")


def plus(*path: str | int, by: int) -> Change:
    """Return the change of a whole number of the law by a few."""
    return put("law", *path, lambda number: str(int(number) + by))


def moved(source: int, target: int, by: int) -> Change:
    """Return the change that moves mass among the displacements of two lengths; sums stay."""

    def change(document: Document) -> None:
        kind, weights = document["law"]["kind"], document["law"]["weights"]
        counts = {"geometric-noise": [1, 2], "planar-laplace": [1, 4, 4, 4, 8, 4, 4, 8]}[kind]
        for place, sign in ((source, -1), (target, 1)):
            share = by * counts[source] * counts[target] // counts[place]
            weights[place] = str(int(weights[place]) + sign * share)

    return change


def privacy(key: str, by: Any) -> Change:
    """Return the change of the notion, and of the claim where that is about the same."""

    def change(document: Document) -> None:
        document["problem"]["privacy"][0][key] = by
        if key in ("notion", "epsilon"):
            document["privacy"][0][key] = float(by) if key == "epsilon" else by

    return change


def domain(**by: Any) -> Change:
    return lambda document: document["problem"].update(domain=by)


@pytest.mark.parametrize("name", MADE)
def test_honest_documents_pass(name: str) -> None:
    verified = verify(document_of(name))
    assert len(verified.claims) == 2
    assert "rows sum to 1 exactly" in verified.claims[0]
    assert f"leakage {MADE[name].leakage:.10g}" in verified.claims[1]
    assert verified.value is verified.bound is None


@pytest.mark.parametrize("name", MADE)
def test_the_ratio_is_that_of_the_whole_table(name: str) -> None:
    """The leakage proved from a few integers is that of the matrix, by enumeration."""
    mechanism = MADE[name]
    notion, matrix = mechanism.privacy, mechanism.dense()
    prior = getattr(mechanism, "prior", None)
    assert exact_table(mechanism)
    assert notion.leakage(matrix, prior) == pytest.approx(mechanism.leakage, rel=1e-14)


CLEAR = {"law": {"kind": "in-clear"}}
UNARY = {"epsilon": "1", "law": as_read(OptimizedUnaryEncoding(3, 1))["law"]}
# (which, what is changed, the words of the refusal)
LIES: list[tuple[str, Change, str]] = [
    ("randomized response", plus("own", by=1), "do not sum to 1"),
    ("randomized response", law("other", by="0"), "mass above 0"),
    ("randomized response", privacy("epsilon", "0.999"), "not private"),
    ("randomized response", leakage(0.99), "leaks more"),
    ("randomized response", leakage(1.01), "leaks less"),
    ("randomized response", leakage(-1), "leaks more than -1.0: it is at least 0"),
    ("randomized response", kind("subset-selection"), "own: subset-selection has no such key"),
    ("randomized response", kind("magic"), "law: expected a kind among .*, found 'magic'"),
    ("randomized response", kind("in-clear"), "own: in-clear has no such key"),
    ("randomized response", domain(values=["a", "b"]), "do not sum to 1"),
    ("randomized response", domain(values=["a", "b", "b"]), "an input twice"),
    ("randomized response", domain(grid={"rows": 1, "columns": 1, "spacing": 1}), "mass|sum to 1"),
    ("randomized response", privacy("notion", "block"), "need a grid"),
    ("randomized response", law("own", by=7), "expected integer >= 0 as text, found 7"),
    ("randomized response", law("own", by="-7"), "expected integer >= 0 as text, found '-7'"),
    ("randomized response", law("own", by="٣"), "expected integer >= 0 as text"),
    ("Hadamard", law("size", by="4"), "the size or the mass"),
    ("Hadamard", law("size", by="12"), "the size or the mass"),
    ("Hadamard", plus("held", by=1), "the size or the mass"),
    ("Hadamard", plus("held", by=WHOLE >> 5), "not private"),
    ("Hadamard", law("held", by=str(WHOLE)), "below 2"),
    ("Hadamard copies", law("copies", by="1"), "the size or the mass"),
    ("Hadamard copies", law("copies", by="0"), "equal blocks"),
    ("Hadamard copies", law("copies", by="5"), "equal blocks"),
    ("Hadamard copies", law("copies", by="9"), "equal blocks"),
    ("Hadamard copies", plus("held", by=2), "are not integers"),
    ("Hadamard copies", plus("held", by=7 << 40), "are not integers|not private"),
    ("Hadamard copies", law("copies", by=str(10**19)), "equal blocks"),
    ("projective", plus("held", by=WHOLE >> 8), "not private"),
    ("projective", law("field", by="4"), "not prime"),
    ("projective", law("field", by="1"), "out of range"),
    ("projective", law("field", by="2"), "fewer points"),
    ("projective", law("field", by=str((1 << 31) + 11)), "out of range"),
    ("projective", law("dimension", by="1"), "out of range"),
    ("projective", law("dimension", by="63"), "out of range"),
    ("projective", law("dimension", by="2"), "fewer points"),
    ("projective", law("dimension", by="4"), "leaks less|not private|leaks more"),
    ("high-low projective", plus("uniform", by=-16), "not private"),
    ("optimized unary", plus("held", by=WHOLE >> 8), "not private"),
    ("optimized unary", plus("digits", by=1), "not private"),
    ("optimized unary", law("others", by="0"), "q is not a probability"),
    ("symmetric unary", law("digits", by="63"), "q is not a probability"),
    ("Hadamard copies", law("held", by=str(WHOLE - 15 * 8)), "are not integers"),
    ("subsets", plus("held", by=WHOLE >> 8), "not private"),
    ("subsets", law("size", by="6"), "between 1 and k - 1"),
    ("subsets", law("size", by="0"), "between 1 and k - 1"),
    ("blocks", law("part_of_block", by=["1", "0", "0"]), "released unmasked"),
    ("blocks", law("part_of_block", by=["0", "0"]), "parts do not match"),
    ("blocks", law("part_of_block", by=["0", "0", "9"]), "parts do not match"),
    ("blocks", plus("parts", 0, "law", "held", by=WHOLE >> 4), "more than its epsilon"),
    ("blocks", privacy("blocks", [[0, 3], [1, 2]]), "do not divide"),
    ("blocks", privacy("blocks", [[0, 3], [1, 2], [3]]), "an input is listed twice"),
    ("blocks", privacy("blocks", [[0, 3, 1, 2], [], [4]]), "parts do not match"),
    ("blocks", privacy("blocks", ["03", [1, 2], [4]]), "expected a list"),
    ("blocks", privacy("blocks", {"0": 1}), "expected a list"),
    ("blocks", law("parts", 1, "law", "more", by="1"), "more: in-clear has no such key"),
    ("blocks", law("part_of_block", by=["0", "0", "0"]), "parts do not match"),
    ("grid", privacy("block_rows", 3), "do not divide its grid"),
    ("grid", privacy("block_rows", 0), "need a grid"),
    ("mixed", law("parts", 0, "law", "kind", by="high-low"), "found 'high-low'"),
    ("high-low", plus("uniform", by=-16), "not private"),
    (
        "high-low",
        law("inner", "law", "kind", by="optimized-unary-encoding"),
        "size: optimized-unary-encoding has no such key",
    ),
    ("high-low", privacy("sensitive", ["a", "b", "x"]), "is not an input"),
    ("high-low", privacy("sensitive", "dab"), "expected a list"),
    ("high-low", privacy("sensitive", []), "needs a notion with protected inputs"),
    ("high-low", domain(values="abcd"), "expected a list"),
    ("high-low", privacy("sensitive", ["a", "b", "c", "d"]), "but all are sensitive"),
    ("Mangat", privacy("sensitive", [1, 2]), "released unmasked"),
    ("LIP", plus("truth", by=1), "do not sum to 1"),
    ("LIP", prior(["0.2", "0.4", "0.4"]), "not private|leaks"),
    ("LIP", prior(["0.3", "0.3", "0.3"]), "expected a distribution"),
    ("LIP", prior(["0.5", "0.5"]), "expected a distribution"),
    ("line", plus("weights", 0, by=1), "do not sum to 1"),
    ("line", moved(1, 0, by=1 << 20), "not private"),
    ("line", privacy("epsilon", "0.9999"), "not private"),
    ("line", leakage(0.9999), "leaks more"),
    ("line", leakage(1.0001), "leaks less"),
    ("line", domain(values=[1, 3, 5, 8]), "equally spaced"),
    ("line", domain(values=[7, 5, 3, 1]), "rising order"),
    ("line", domain(values=["a", "b", "c", "d"]), "no coordinates"),
    ("line", domain(values=[0.5, 1, 1.5, 2]), "not private"),
    ("line", domain(values=[1, 3, 5, 7, 9]), "do not sum to 1"),
    ("line", law("margins", by=["0"]), "margin"),
    ("line", plus("margins", 1, by=1), "do not sum to 1"),
    ("line", plus("margins", 0, by=1), "at least three points"),
    ("line", law("weights", 3, by="0"), "weights do not match the lengths"),
    ("line", law("weights", by=[str(WHOLE)]), "weights do not match the lengths"),
    ("line", law("weights", by=["1"] * 50), "weights do not match the lengths"),
    ("line", privacy("distance", [["0", "1", "2", "3"]] * 4), "unsupported distance"),
    ("line", privacy("notion", "ldp"), "ldp has no such key"),
    ("walks", privacy("distance", "euclidean"), "unsupported distance"),
    ("walks", kind("planar-laplace"), "unsupported distance"),
    ("walks", plus("margins", 0, by=1), "at least three points"),
    ("walks", domain(grid={"rows": 3, "columns": 2, "spacing": "0.5"}), "at least three"),
    ("walks", domain(grid={"rows": 2, "columns": 3, "spacing": "0.4"}), "not private"),
    ("plane", privacy("distance", "manhattan"), "unsupported distance"),
    ("plane", privacy("distance", "absolute"), "absolute distance of numbers"),
    ("plane", kind("geometric-noise"), "unsupported distance"),
    ("plane", moved(6, 5, by=1 << 40), "not private"),
    ("plane", law("remap", by=["0"] * 11), "must have one input for each"),
    ("plane", law("remap", by=["12"] * 12), "must have one input for each"),
    (
        "randomized response",
        lambda document: document.update(CLEAR) or domain(values=["a"])(document),
        "a part of other laws only",
    ),
    ("high-low", law("inner", by=UNARY), "must have two probabilities"),
]


@pytest.mark.parametrize(("name", "change", "words"), LIES)
def test_lies_are_refused(name: str, change: Change, words: str) -> None:
    document = document_of(name)
    change(document)
    with pytest.raises(CertificateError, match="the digest does not match"):
        verify(document)
    refused(document, words)


def test_other_units_that_are_private_still_pass() -> None:
    """The checker proves what a file says, whatever made it: a smaller mass is more private."""
    document = document_of("subsets")
    plus("held", by=-1)(document)
    verify(sealed(document))


@pytest.mark.parametrize("epsilon", ["0", "1"])
def test_reports_that_reveal_nothing_have_the_leakage_0(epsilon: str) -> None:
    """Both bounds are kept with equality: the ratio is 1, which is e**0 exactly."""
    document = as_read(GeneralizedRandomizedResponse(["a", "b", "c", "d"], 1))
    for change in (
        law("own", by=str(WHOLE // 4)),
        law("other", by=str(WHOLE // 4)),
        leakage(0),
        privacy("epsilon", epsilon),
    ):
        change(document)
    verify(sealed(document))


def test_the_high_low_condition_is_sharp() -> None:
    """One step of w less, and most > e**eps w / N."""
    mechanism = HighLow(5, HighLowLDP(1, [0, 1, 2]), SubsetSelection(3, 1, 1))
    document = as_read(mechanism)
    verify(document)
    document["law"]["uniform"] = str(int(document["law"]["uniform"]) - 3)
    refused(document, "not private")


@pytest.mark.parametrize("name", MADE)
def test_a_file_is_written_as_it_was_read(name: str) -> None:
    found = read(LawFile, document_of(name))
    assert read(LawFile, write(found)) == found


def test_laws_ask_for_the_one_bound_that_they_are_about() -> None:
    """Ratios by a matrix or beside a prior have many bounds, a ball around a prior many lifts."""
    one, p = Fraction(1), (Fraction(1, 3),) * 3
    matrix = Matrix(((one,) * 3,) * 3)
    for part in (Ratio(matrix), Ratio(Constant(one), p), Lift(one, one, Listed((p,)))):
        with raised("needs one bound on ratios"):
            constant(part)
    asked = LIPRandomizedResponse(WHOLE - 3, (1, 1, 1))
    lifts = [Lift(one, one, priors) for priors in (Ball(p, one / 9), Listed((p, p)))]
    sides = ((one, 2 * one), (None, one), (one, None), (None, None))
    for lift in (*lifts, *(Lift(lower, upper, Listed((p,))) for lower, upper in sides)):
        with raised("at one prior"):
            asked.leak(lift, 3)


def test_without_blocks_a_part_has_all_inputs() -> None:
    """Of five inputs each other report has a fourth of what is left."""
    other = WHOLE // 8
    keys = {"own": WHOLE - 4 * other, "other": other}
    part = Part(Fraction(2), ConstantLaw("randomized-response", keys))
    found = ByComponentLaw((part,), (0,)).leak(Ratio(Constant(Fraction(2))), 5)
    assert found.ratio == 4
    with raised("protected inputs are not supported"):
        ByComponentLaw((part,), (0,)).leak(Ratio(Constant(Fraction(2), None, (0, 1))), 5)


def test_a_part_keeps_its_own_epsilon() -> None:
    for epsilon, fits in (("1.3863", True), ("1.3862", False), ("-1", False)):
        keys = {"own": WHOLE // 2, "other": WHOLE // 8}
        part = Part(Fraction(epsilon), ConstantLaw("randomized-response", keys))
        with nullcontext() if fits else raised("more than its epsilon"):
            assert part.ratios(5).ratio == 4


def test_unary_encoding_that_prefers_zeros_leaks_as_much() -> None:
    """Of p < q the odds are turned over."""
    p, q = Fraction(1, 4), Fraction(1, 2)
    keys = {"digits": 1, "others": 1, "held": WHOLE // 4}
    law = ConstantLaw("optimized-unary-encoding", keys)
    assert law.ratios(3).ratio == q * (1 - p) / (p * (1 - q)) == 3


NOISE = {
    "line": GeometricNoise(5, 4),
    "walks": GeometricNoise(Domain.grid(2, 3), 5),
    "plane": PlanarLaplace(Domain.grid(3, 3), 4),
}


def changed(name: str, weights: list[int]) -> Document:
    document: Document = as_read(NOISE[name])
    document["law"]["weights"] = [str(w) for w in weights]
    return sealed(document)


@given(st.sampled_from(sorted(NOISE)), st.data())
@examples(30)
def test_no_change_of_the_weights_is_accepted_that_is_not_private(
    name: str, data: st.DataObject
) -> None:
    """Mass is moved between two lengths, a little or much: accepted means private, exactly."""
    made = NOISE[name]
    law = made.law
    table = law.table.copy()
    weights = list(law.weights)
    counts = [int((table == w).sum()) for w in weights]
    source, target = data.draw(
        st.lists(st.integers(0, len(weights) - 1), min_size=2, max_size=2, unique=True)
    )
    most = (weights[source] - 1) // counts[target]
    step = data.draw(st.sampled_from([1, 2, 1000, most // 10**6, most // 2]))
    weights[source] -= min(step, most) * counts[target]
    weights[target] += min(step, most) * counts[source]
    document = changed(name, weights)
    try:
        verify(document)
    except CertificateError:
        return
    told = TorusLaw(law.sides, law.margins, law.euclidean, tuple(weights))
    rows = [
        told.masses(divmod(x, law.sides[1]), tuple(np.arange(n) for n in law.sides)).ravel()
        for x in range(len(made.inputs))
    ]
    assert np.sum(rows, axis=1).tolist() == [1 << 62] * len(rows)
    assert made.privacy.holds(Channel(np.array(rows), inputs=made.inputs, bits=62))


@pytest.mark.parametrize("name", NOISE)
def test_a_budget_a_millionth_less_is_refused(name: str) -> None:
    document = as_read(NOISE[name])
    notion = document["problem"]["privacy"][0]
    epsilon = Fraction(notion["epsilon"]) * Fraction(999_998, 1_000_000)
    notion["epsilon"] = str(float(epsilon))
    document["privacy"][0]["epsilon"] = float(epsilon)
    with pytest.raises(CertificateError, match="not private"):
        verify(sealed(document))


@pytest.mark.parametrize("name", NOISE)
def test_any_remap_is_private(name: str) -> None:
    made = NOISE[name]
    rng, k = np.random.default_rng(3), len(made.inputs)
    document = as_read(made)
    document["law"]["remap"] = [str(y) for y in rng.integers(0, k, k)]
    verify(sealed(document))
    remapped = made.remapped(Prior.uniform(k))
    assert MetricPrivacy.holds(made.privacy, remapped.dense())


def test_the_work_is_counted() -> None:
    """A few bytes that ask for a torus of 10**14 points are refused before any is looked at."""
    document = as_read(NOISE["plane"])
    document["law"]["margins"] = ["10000000", "10000000"]
    with pytest.raises(LimitError, match="the law 'planar-laplace'"):
        verify(sealed(document))


def test_a_huge_budget_takes_no_exponentials_that_no_weights_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two weights differ by a factor 2**62 at most; e**4096 for each length would take minutes."""
    bounds = []

    def computed(exponent: int, bits: int) -> int:
        bounds.append(exp_lower_scaled(exponent, bits))
        return bounds[-1]

    monkeypatch.setattr(torus, "exp_lower_scaled", computed)
    document = as_read(NOISE["line"])
    document["law"] |= {"margins": ["0", "510"], "weights": [str(1 << 52)] * 513}
    document["problem"]["domain"] = {"values": [0, 1, 2, 3]}
    document["problem"]["privacy"][0]["epsilon"] = "4096"
    document["privacy"][0] |= {"epsilon": 4096.0, "leakage": 0.0}
    verify(sealed(document))
    assert len(bounds) >= 512
    assert all(1 << 62 <= bound >> BITS < 1 << 66 for bound in bounds if bound > 1 << BITS)


def test_every_weight_is_above_0() -> None:
    """One unit is enough; which ratios that allows is another check."""
    line = Ratio(Distance(Fraction(1), "absolute", tuple((Fraction(x),) for x in range(3))))
    for last, fits in ((1, True), (0, False), (-1, False)):
        rest = WHOLE - 2 * last
        noise = torus.GeometricNoise((0, 0), (rest, last))
        with nullcontext() if fits else raised("weights do not match the lengths"):
            assert noise.leak(line, 3).law == noise


def test_noise_is_for_distances_of_a_grid_alone() -> None:
    one, prior = Fraction(1), (Fraction(1, 3),) * 3

    def on(*places: int, **more: Fraction) -> Distance:
        return Distance(one, "absolute", tuple((Fraction(x),) for x in places), **more)

    for kind in (torus.GeometricNoise, torus.PlanarLaplace):
        assert kind((0, 0), (WHOLE - 2, 1)).leak(Ratio(on(0, 1, 2)), 3).sides == (1, 3)
        assert kind((0, 0), (WHOLE - 1, 1)).leak(Ratio(on(4, 6)), 2).step == 2
    noise = torus.GeometricNoise((0, 0), (WHOLE - 2, 1))
    lift = Lift(one, one, Listed((prior,)))
    for part in (Ratio(on(0, 1, 2), prior), Ratio(on(0, 1, 2, offset=one)), lift):
        with raised("unsupported distance"):
            noise.leak(part, 3)
    for places in ((0, 0, 0), (2, 1, 0), (0, 1, 3), (0,)):
        with raised("in rising order"):
            noise.leak(Ratio(on(*places)), len(places))
