"""A notion that is none of ours: one file and one line, and all that a notion has follows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import mechdesign as md
from mechdesign import LDP, Channel, Domain, InputError, Prior, Problem, design, save
from mechdesign.cli import main
from mechdesign.files.templates import template
from mechdesign.kernel.generators import (
    Cone,
    Constant,
    Distance,
    Latent,
    ListedRow,
    Matrix,
    Ratio,
    Rows,
)
from mechdesign.kernel.limits import Gauge
from mechdesign.kernel.schema import read
from mechdesign.notions import NOTIONS, Notion, restored
from mechdesign.notions.base import BudgetNotion
from mechdesign.notions.non_conic import WholeChannelNotion
from tests.documents import proved
from tests.modules_support import module_at

FILE = '''
"""LDP between neighbors on a line, twice as strict on one side."""

from mechdesign.kernel.generators import Matrix, Ratio
from mechdesign.notions.base import BudgetNotion


class NeighborLDP(BudgetNotion):
    """Q(y|x) <= e**epsilon Q(y|x + 1), and Q(y|x + 1) <= e**(epsilon / 2) Q(y|x)."""

    name = "neighbor"
    title = "LDP between neighbors, twice as strict on one side"
    example = """
epsilon = 1.0               # nats; half of it against the neighbor on the left
"""

    def generators(self, domain, prior):
        """State the ratios of neighbors."""
        steps = {1: self.epsilon, -1: self.epsilon / 2}
        inputs = range(len(domain))
        table = tuple(tuple(steps.get(z - x, "inf") for z in inputs) for x in inputs)
        return (Ratio(Matrix(table)),)
'''

HALF, ZERO = Fraction(1, 2), Fraction(0)
PRIOR = Prior([Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)])


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """The class of the file, registered by one line."""
    path = tmp_path / "neighbor.py"
    path.write_text(FILE)
    module = module_at(path)
    monkeypatch.setitem(NOTIONS, "neighbor", module.NeighborLDP)
    return module.NeighborLDP


def leakage_by_hand(channel: Channel) -> float:
    """The least epsilon, from the definition."""
    q, found = channel.matrix, 0.0
    for x, y in itertools.product(range(len(q) - 1), range(q.shape[1])):
        if q[x, y] or q[x + 1, y]:
            step = math.log(q[x, y] / q[x + 1, y])
            found = max(found, step, -2 * step)
    return found


def optimum_by_hand(epsilon: float) -> float:
    """The textbook linear program for four inputs and the absolute error."""
    k, prior = 4, PRIOR.array
    cost = [prior[x] * abs(x - y) for x in range(k) for y in range(k)]
    rows = []
    for x, y in itertools.product(range(k - 1), range(k)):
        for a, b, bound in ((x, x + 1, epsilon), (x + 1, x, epsilon / 2)):
            row = np.zeros((k, k))
            row[a, y], row[b, y] = 1, -math.exp(bound)
            rows.append(row.ravel())
    sums = np.kron(np.eye(k), np.ones(k))
    found = scipy.optimize.linprog(cost, rows, np.zeros(len(rows)), sums, np.ones(k))
    return float(found.fun)


def test_its_rows_are_both_halves_of_the_definition(own: type[Any]) -> None:
    warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    three = math.log(3)
    assert own(2 * three + 1e-9).holds(warner)
    assert not own(2 * three - 1e-9).holds(warner)
    towards = Channel.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]])
    for channel in (warner, towards):
        assert own(1).leakage(channel) == pytest.approx(leakage_by_hand(channel), rel=1e-14)
        assert own(0).leakage(channel) == own(1).leakage(channel)
    flat = Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    assert own(0).holds(flat)
    assert own(1).leakage(flat) == 0


def test_a_file_states_its_keys_and_its_generators(own: type[Any]) -> None:
    problem = Problem(range(4), own("1/3"), md.MeanAbsoluteError(), prior=PRIOR)
    (table,) = problem.to_table()["privacy"]
    assert {key: table[key] for key in ("notion", "epsilon")} == {
        "notion": "neighbor",
        "epsilon": "1/3",
    }
    assert read(tuple[Cone, ...], table["cone"]) == own("1/3").generators(problem.domain, None)
    assert own("1/3") == own(Fraction(1, 3)) != own(1)
    assert restored(table) == own("1/3")
    assert repr(own(1)) == "NeighborLDP(epsilon=1)"
    assert problem.at(2).privacy == (own(2),)


def test_its_example_is_a_problem_file_that_gives_the_class_back(
    own: type[Any], tmp_path: Path
) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(template(own))
    problem = md.load_problem(path)
    assert problem.privacy == (own(1),)
    assert isinstance(problem.privacy[0], own)


LAW = ((HALF, HALF, ZERO, ZERO), (ZERO, HALF / 2, HALF / 2, HALF), (HALF / 2,) * 4)
LINE = tuple((Fraction(x),) for x in range(4))


def stated(*made: Callable[[Fraction], Cone]) -> Notion:
    """Return a notion of one's own with these generators at its budget, which is 1."""

    class Stated(BudgetNotion):
        name = "stated"
        allows_sensitive_attribute = True

        def generators(self, domain: Domain, prior: Prior | None) -> tuple[Cone, ...]:
            return tuple(part(self.epsilon) for part in made)

    return Stated(1)


def constant(epsilon: Fraction) -> Cone:
    return Ratio(Constant(epsilon))


def near(epsilon: Fraction) -> Cone:
    return Ratio(Distance(epsilon / 2, "absolute", LINE[:3]))


JOINT = [[p / 3 for p in row] for row in LAW]
MARGINAL = [sum(column) for column in zip(*JOINT, strict=True)]
ATTRIBUTE = md.SensitiveAttribute(range(3), joint=JOINT)
ALIKE: dict[str, tuple[list[Notion], list[Notion]]] = {
    "a latent value": (
        [stated(lambda e: Latent(LAW, constant(e)))],
        [md.SensitiveAttributePrivacy(LDP(1), ATTRIBUTE)],
    ),
    "two generators": (
        [stated(constant, lambda e: Ratio(Distance(e / 2, "absolute", LINE)))],
        [LDP(1), md.MetricPrivacy("1/2", "absolute")],
    ),
    "two generators of an attribute": (
        [md.SensitiveAttributePrivacy(stated(constant, near), ATTRIBUTE)],
        [
            md.SensitiveAttributePrivacy(inner, ATTRIBUTE)
            for inner in (LDP(1), md.MetricPrivacy("1/2", "absolute"))
        ],
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_generators_are_proved_like_the_notions_that_have_them(name: str, tmp_path: Path) -> None:
    own, known = (
        proved(Problem(range(4), notions, md.MeanAbsoluteError(), prior=MARGINAL))
        for notions in ALIKE[name]
    )
    assert float(own.value) == pytest.approx(float(known.value))
    save(own, tmp_path / "channel.json")
    loaded = md.load_channel(tmp_path / "channel.json")
    assert (loaded.mechanism.numerators == own.channel.numerators).all()


def test_a_sensitive_attribute_may_be_what_it_is_about(own: type[Any]) -> None:
    attribute = md.SensitiveAttribute(
        range(2), given_input=[[1, 0], [0.5, 0.5], [0.2, 0.8], [0, 1]]
    )
    notion, plain = (md.SensitiveAttributePrivacy(n, attribute) for n in (own(1), LDP(1)))
    problem = Problem(range(4), notion, md.MeanAbsoluteError(), prior=PRIOR)
    (table,) = problem.to_table()["privacy"]
    assert restored(table) == notion
    (found,) = read(tuple[Cone, ...], table["cone"])
    assert found.matrix == tuple(attribute.distributions(PRIOR)[1])
    identity = Channel.from_matrix(np.eye(4).tolist(), inputs=range(4))
    assert notion.leakage(identity, PRIOR) == plain.leakage(identity, PRIOR) == math.inf


class Excess(Notion):
    """Without epsilon: two rows, and what a channel is above them."""

    name = "excess"

    def generators(self, domain: Domain, prior: Prior | None) -> tuple[Rows, ...]:
        one, half = Fraction(1), Fraction(1, 2)
        there = ListedRow(((0, one),), half, ((1, one),))
        return Rows((there,)), Rows((ListedRow(((1, one),), one, ((0, one),)),))


def test_without_epsilon_the_leakage_is_the_largest_excess() -> None:
    warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    assert Excess().leakage(warner) == pytest.approx(math.log(3) - 0.5, rel=1e-14)
    assert not Excess().holds(warner)
    assert Excess().to_table() == {"notion": "excess"}


class Largest(BudgetNotion):
    """Maximal leakage, as a limit of one's own."""

    name = "largest"

    def generators(self, domain: Domain, prior: Prior | None) -> tuple[Gauge, ...]:
        units = [((x, Fraction(1)),) for x in range(len(domain))]
        return (Gauge(tuple(ListedRow(u, self.epsilon, ()) for u in units), Fraction(1)),)


class OwnLimit(WholeChannelNotion, Largest):
    """It is about the whole channel."""

    summary = "sum of the largest probabilities"


def test_a_limit_on_the_whole_channel_may_be_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOTIONS, "largest", OwnLimit)
    with pytest.raises(InputError, match="needs WholeChannelNotion as a parent"):
        Problem(3, Largest(1), md.MeanAbsoluteError())
    own = proved(Problem(3, OwnLimit("0.5"), md.MeanAbsoluteError()))
    known = design(Problem(3, md.MaximalLeakage("0.5"), md.MeanAbsoluteError()))
    assert own.value == pytest.approx(float(known.value), rel=1e-9)
    assert [row.row for row in own.binding] == [OwnLimit.summary]
    assert OwnLimit(1).leakage(own.channel) == md.MaximalLeakage(1).leakage(own.channel)


class Faulty(LDP):
    """Generators that a function of epsilon makes."""

    name = "faulty"
    made: Any = None

    def generators(self, domain: Domain, prior: Prior | None) -> Any:
        return self.made(self.epsilon)

    family = Notion.family


def pair(there: Any, back: Any) -> Ratio:
    return Ratio(Matrix((("inf", there), (back, "inf"))))


def row(x: int, exponent: Any) -> Rows:
    return Rows((ListedRow(((x, Fraction(1)),), exponent, ((1, Fraction(1)),)),))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda e: (pair(e * 0.5, e),), "exact numbers, .*given 0.5"),
        (lambda e: (pair("0.5", e),), "exact numbers, .*given '0.5'"),
        (lambda e: (pair(e + 1, e),), "proportional to epsilon"),
        (lambda e: (row(0, e + 1),), "proportional to epsilon"),
        (lambda e: (row(9, e),), "generators: a coefficient is below 0, or its input does not"),
        (lambda e: (Ratio(Matrix(((0, e),) * 3)),), "generators: expected a 2 x 2 matrix"),
        (lambda e: pair(e, e), r"a tuple of generators.*given a Ratio"),
    ],
)
def test_faulty_generators_are_refused_at_any_budget(made: Any, message: str) -> None:
    own = type("Own", (Faulty,), {"made": staticmethod(made)})
    for epsilon in (1, 2):
        with pytest.raises(InputError, match=message):
            Problem(2, own(epsilon), md.MeanAbsoluteError())


def test_a_mistake_in_generators_is_raised_as_it_is() -> None:
    """A mistake in a class of the user's own is not taken for a wrong result."""
    own = type("Own", (Faulty,), {"made": staticmethod(len)})
    with pytest.raises(TypeError, match=r"has no len\(\)"):
        Problem(2, own(1), md.MeanAbsoluteError())


def test_it_designs_saves_and_verifies(
    own: type[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solution = proved(Problem(range(4), own(1), md.MeanAbsoluteError(), prior=PRIOR))
    assert solution.value == pytest.approx(optimum_by_hand(1.0), rel=1e-6)
    assert leakage_by_hand(solution.channel) <= 1 + 1e-12
    save(solution, tmp_path / "own.json")
    assert main(["leakage", str(tmp_path / "own.json")]) == 0
    assert "neighbor                      not measured: a notion of" in capsys.readouterr().out
