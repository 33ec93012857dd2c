"""The proof of noise from its weights: whatever it accepts is private, pair by pair."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import CertificateError, Domain, LimitError, MetricPrivacy, Prior
from mechdesign.exact import exp_lower_scaled
from mechdesign.kernel.arithmetic import BITS
from mechdesign.kernel.generators import Distance, Lift, Listed, Ratio
from mechdesign.kernel.laws import WHOLE, torus
from mechdesign.kernel.verify import verify
from mechdesign.mechanisms import GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.torus_law import TorusLaw
from tests.documents import Document, sealed
from tests.strategies import examples

MADE = {
    "line": GeometricNoise(5, 4),
    "walks": GeometricNoise(Domain.grid(2, 3), 5),
    "plane": PlanarLaplace(Domain.grid(3, 3), 4),
}


def changed(name: str, weights: list[int]) -> Document:
    document: Document = copy.deepcopy(json.loads(json.dumps(MADE[name].document())))
    document["law"]["weights"] = [str(w) for w in weights]
    return sealed(document)


@given(st.sampled_from(sorted(MADE)), st.data())
@examples(30)
def test_no_change_of_the_weights_is_accepted_that_is_not_private(
    name: str, data: st.DataObject
) -> None:
    """Mass is moved between two lengths, a little or much: accepted means private, exactly."""
    made = MADE[name]
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
    assert made.privacy.holds(_channel(rows, made.inputs))


def _channel(rows: list[np.ndarray], inputs: Domain):
    from mechdesign import Channel

    return Channel(np.array(rows), inputs=inputs, bits=62)


@pytest.mark.parametrize("name", MADE)
def test_a_budget_a_millionth_less_is_refused(name: str) -> None:
    document = json.loads(json.dumps(MADE[name].document()))
    notion = document["problem"]["privacy"][0]
    epsilon = Fraction(notion["epsilon"]) * Fraction(999_998, 1_000_000)
    notion["epsilon"] = str(float(epsilon))
    document["privacy"][0]["epsilon"] = float(epsilon)
    with pytest.raises(CertificateError, match="not private"):
        verify(sealed(document))


@pytest.mark.parametrize("name", MADE)
def test_any_remap_is_private(name: str) -> None:
    made = MADE[name]
    rng, k = np.random.default_rng(3), len(made.inputs)
    document = json.loads(json.dumps(made.document()))
    document["law"]["remap"] = [str(y) for y in rng.integers(0, k, k)]
    verify(sealed(document))
    remapped = made.remapped(Prior.uniform(k))
    assert MetricPrivacy.holds(made.privacy, remapped.dense())


def test_the_work_is_counted() -> None:
    """A few bytes that ask for a torus of 10**14 points are refused before any is looked at."""
    document = json.loads(json.dumps(MADE["plane"].document()))
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
    document = json.loads(json.dumps(MADE["line"].document()))
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
        if fits:
            assert noise.leak(line, 3).law == noise
        else:
            with pytest.raises(CertificateError, match="weights do not match the lengths"):
                noise.leak(line, 3)


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
        with pytest.raises(CertificateError, match="unsupported distance"):
            noise.leak(part, 3)
    for places in ((0, 0, 0), (2, 1, 0), (0, 1, 3), (0,)):
        with pytest.raises(CertificateError, match="in rising order"):
            noise.leak(Ratio(on(*places)), len(places))
