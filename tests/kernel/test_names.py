"""Each name of a notion asks what its formula says; each name of an objective is its formula.

Values are those of the second verifier; what is read from outputs minimizes the error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from types import SimpleNamespace
from typing import Any

import pytest

from mechdesign.errors import CertificateError
from mechdesign.kernel.names import Compiled, Notion, ProblemTable, Utility, compile_problem
from mechdesign.kernel.names.domains import Domain, Inputs
from mechdesign.kernel.objectives import Risk, cells, distances, hamming
from mechdesign.kernel.schema import read, write
from mechdesign.kernel.statement import Statement, private
from mechdesign.kernel.value import decoder, reference_prior, value
from tests.independent import files, statement as independent
from tests.independent.files import leakage
from tests.independent.rationals import Interval
from tests.independent.reading import labels, read_domain
from tests.independent.statement import read_aim
from tests.kernel.draws import refused

K, WHOLE = 4, 1 << 20
ONE, ZERO = Fraction(1), Fraction(0)
PRIOR = [Fraction(n, 10) for n in (1, 2, 3, 4)]
PRIORS = [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
GRID = {"grid": {"rows": 2, "columns": 2, "spacing": "1/2"}}
SECRET = {"values": ["a", "b"], "given_input": [["1/2", "1/2"], [1, 0], ["1/4", "3/4"], [0, 1]]}
Document = dict[str, Any]


def channel(seed: int) -> list[list[int]]:
    """Return random columns of a channel with all entries above 0."""
    rng, rows = random.Random(seed), []
    for _ in range(K):
        cuts = sorted(rng.sample(range(WHOLE // 20, WHOLE - WHOLE // 20), 2))
        rows.append([cuts[0], cuts[1] - cuts[0], WHOLE - cuts[1]])
    return [list(q) for q in zip(*rows, strict=True)]


E = {"epsilon": 0}
STEPS = [[abs(x - z) for x in range(K)] for z in range(K)]
BUDGETS = [["inf" if x == z else 0 for z in range(K)] for x in range(K)]
OWN = [{"kind": "ratio", "exponents": {"kind": "constant", "exponent": 1}}]
SLOPED = {"name": "a", "left": [[[0, 0], 2]], "right": [[[1, 1], 1]], "exponent": "1/2", "slope": 2}
CASES: list[dict[str, Any]] = [
    {"notion": "ldp", **E},
    {"notion": "ldp", **E, "secret": SECRET},
    {"notion": "high-low", **E, "sensitive": [[0, 1]]},
    {"notion": "block", **E, "block_rows": 1, "block_columns": 2},
    {"notion": "block", **E, "block_rows": 2, "block_columns": 1},
    {"notion": "block", **E, "blocks": [[[0, 0], [1, 1]], [[0, 1], [1, 0]]]},
    {"notion": "metric", **E, "distance": "manhattan"},
    {"notion": "metric", **E, "distance": "euclidean"},
    {"notion": "metric", **E, "distance": STEPS},
    {"notion": "context-aware", "matrix": BUDGETS},
    {"notion": "differential-identifiability", **E},
    {"notion": "lip", **E},
    {"notion": "lip", **E, "secret": SECRET},
    {"notion": "pml", **E},
    {"notion": "lift", "lower": "inf", "upper": 0},
    {"notion": "bounded-prior-lip", **E, "priors": PRIORS},
    {"notion": "bounded-prior-pml", **E, "lower": ["0.1"] * K, "upper": ["0.6"] * K},
    {
        "notion": "bounded-prior-lift",
        "lower": 0,
        "upper": 0,
        "priors": {"center": list(map(str, PRIOR)), "radius": "0.05"},
    },
    {"notion": "bounded-prior-lip", **E, "center": list(map(str, PRIOR)), "radius": 0},
    {
        "notion": "linear",
        "rows": [{"name": "a", "left": [[[0, 0], 2]], "right": [[[1, 1], 3]], "exponent": 0}],
    },
    {"notion": "linear", **E, "rows": [SLOPED]},
    {"notion": "approximate-ldp", **E, "delta": "0.05"},
    {"notion": "approximate-ldp", **E, "delta": 0},
    {"notion": "approximate-lip", **E, "delta": "0.05"},
    {"notion": "approximate-lip", **E, "delta": 0},
    {"notion": "maximal-leakage", **E},
    {"notion": "mutual-information", **E},
    {"notion": "g-vulnerability", "limit": "0.1"},
    {"notion": "g-vulnerability", "limit": "0.1", "gain_matrix": [[1, 0, 2, 0], [0, "1/2", 0, 1]]},
    {"notion": "attack-error", "least": "0.05", "distance": "euclidean"},
    {"notion": "attack-error", "least": "0.05", "distance": STEPS},
    {"notion": "neighbor", "epsilon": 1, "cone": OWN},
]


def compiled(**table: Any) -> Compiled:
    """Return the statement of a problem on the grid."""
    form = {"domain": GRID, "prior": list(map(str, PRIOR)), "privacy": [], **table}
    return compile_problem(read(ProblemTable, form, "problem"))


POINTS = {"points": {"coordinates": [[0, 0], [7, 1], [3, 8], [5, 2]], "metric": "euclidean"}}
ON_GRID = [pytest.param(table, GRID, id=table["notion"]) for table in CASES]
FAR = {"notion": "metric", **E, "distance": "euclidean"}


@pytest.mark.parametrize(("table", "domain"), [*ON_GRID, (FAR, POINTS)])
def test_a_notion_holds_at_its_leakage_and_not_below(table: Document, domain: Document) -> None:
    """The second verifier says the same on both sides of the least number."""
    problem = compiled(domain=domain, privacy=[table])
    (notion,) = problem.table.privacy
    assert read(ProblemTable, write(problem.table)) == problem.table
    second = independent.Notion(table, read_domain(domain), tuple(PRIOR))
    for seed in range(2):
        columns = channel(seed)
        exact = [tuple(Fraction(v, WHOLE) for v in q) for q in columns]

        def holds(at: Fraction, columns: list[list[int]] = columns) -> bool:
            return private(problem.alone(notion.at(at)), columns, WHOLE) is None

        known = None if second.at(Fraction(1))[1] else leakage(second, exact)
        least = Fraction(known) if known is not None else least_of(holds)
        for off in (Fraction(1, 10**9), -Fraction(1, 10**9)):
            assert holds(least + off) == second.holds(exact, least + off) == (off > 0)


def least_of(holds: Callable[[Fraction], bool]) -> Fraction:
    """Return where a limit begins to hold."""
    low, high = Fraction(-4), Fraction(4)
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def test_every_name_of_a_notion_has_a_case() -> None:
    named = set(Notion.forms()) - {""}
    assert named == {table["notion"] for table in CASES} - {"neighbor"}


@pytest.mark.parametrize(
    "table",
    [
        {"notion": "ldp", "epsilon": "-1"},
        {"notion": "ldp"},
        {"notion": "ldp", "epsilon": 1, "delta": 0},
        {"notion": "high-low", "epsilon": 1, "sensitive": ["x"]},
        {"notion": "block", "epsilon": 1, "blocks": [[[0, 0]]]},
        {"notion": "block", "epsilon": 1, "block_rows": 3, "block_columns": 1},
        {"notion": "block", "epsilon": 1, "block_rows": 1},
        {"notion": "block", "epsilon": 1, "block_columns": 1},
        *({"notion": "block", "epsilon": 1, key: 1, "blocks": [[[0, 0], [1, 1], [0, 1], [1, 0]]]}
          for key in ("block_rows", "block_columns")),
        {"notion": "linear", "rows": [SLOPED]},
        {"notion": "linear", "epsilon": 1, "rows": [{**SLOPED, "slope": "-1"}]},
        {"notion": "metric", "epsilon": 1, "distance": "absolute"},
        {"notion": "metric", "epsilon": 1, "distance": [[0]]},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": [0] * K},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": ["0.5"] * K, "upper": [1] * K},
        {"notion": "bounded-prior-lip", "epsilon": 1, "lower": ["0.5", 0, 0, 0],
         "upper": ["0.2", 1, 1, 1]},
        {"notion": "lip", "epsilon": 1, "secret": {**SECRET, "given_input": [[1, 0]] * K}},
        {"notion": "attack-error", "least": 0, "distance": "absolute"},
        {"notion": "own", "cone": [
            {"kind": "rows", "rows": [{"left": [[9, 1]], "exponent": 0, "right": []}]}]},
        {"notion": "own", "limits": [{"kind": "gauge", "parts": [], "limit": 1}]},
        {"notion": 3, "epsilon": 1},
    ],
)  # fmt: skip
def test_a_table_that_contradicts_itself_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        compiled(privacy=[table])


OUTPUTS = [[1, 1], [0, 0], [0, 1]]
NEAR = Fraction(1, 10**30)


def dot(a: list[float], b: list[float]) -> float:
    """Return a . b."""
    return sum(map(float.__mul__, a, b))


def second(
    table: dict[str, Any], columns: list[list[int]], domain: Any = GRID, outputs: Any = OUTPUTS
) -> Interval:
    """Return the value by the second verifier, minimized."""
    aim = read_aim(table, read_domain(domain), tuple(PRIOR), labels(outputs))
    exact = [tuple(Fraction(v, WHOLE) for v in q) for q in columns]
    return files.value(aim, exact, list(range(len(exact))), {})


def square_channel() -> list[list[int]]:
    """Return a channel with as many outputs as inputs, which determines them."""
    rows = [[1 + 3 * (x == y) + (x + 2 * y) % 3 for y in range(K)] for x in range(K)]
    whole = [[v * (WHOLE // sum(row)) for v in row] for row in rows]
    for row in whole:
        row[0] += WHOLE - sum(row)
    return [list(c) for c in zip(*whole, strict=True)]


GAINS = [[1, 0, "1/2", 0], [0, 2, 0, 1]]
MIX = {"first": ["1/2", "1/2", 0, 0], "second": ["0.1", "0.2", "0.3", "0.4"]}
MATRIX = [[x * y + 1 for y in range(3)] for x in range(K)]
SCORES = [[1, 0], [-1, 1], [2, 0], [0, 1]]


AIMS: list[dict[str, Any]] = [
    {"objective": "distortion", "matrix": MATRIX},
    {"objective": "hamming"},
    {"objective": "hamming", "worst_case": True},
    {"objective": "mean-squared-distance"},
    {"objective": "euclidean"},
    {"objective": "bayes-accuracy"},
    {"objective": "g-vulnerability", "gain_matrix": GAINS},
    {"objective": "posterior-mean-squared-error", "values": [1, 2, 0, 4]},
    {"objective": "posterior-mean-squared-error", "histogram": True},
    {"objective": "fisher-information", "scores": SCORES},
    {"objective": "mutual-information"},
    {"objective": "total-variation", **MIX},
    {"objective": "kullback-leibler", **MIX},
    {"objective": "chi-squared", **MIX},
    {"objective": "squared-hellinger", **MIX},
]


@pytest.mark.parametrize("table", AIMS, ids=[table["objective"] for table in AIMS])
def test_a_value_is_that_of_the_second_verifier(table: dict[str, Any]) -> None:
    """It is rounded up by less than 1e-30."""
    statement = compiled(utility=table, outputs=OUTPUTS).statement
    for seed in range(3):
        low, high = second(table, channel(seed))
        assert low <= value(statement, channel(seed), WHOLE, range(3)) <= high + NEAR


def test_every_name_of_an_objective_has_a_case() -> None:
    named = set(Utility.forms()) - {""}
    others = {"mean-absolute-error", "l2-risk", "tv-risk", "unbiased-variance"}
    assert named == {table["objective"] for table in AIMS} | others


@pytest.mark.parametrize("worst", [False, True])
def test_a_mean_absolute_error_is_of_numbers(worst: bool) -> None:
    domain, outputs = {"values": [0, 1, 3, 7]}, [1, 3, 7]
    utility = {"objective": "mean-absolute-error", "worst_case": worst}
    statement = compiled(domain=domain, utility=utility, outputs=outputs).statement
    low, high = second(utility, channel(0), domain, outputs)
    assert low == high == value(statement, channel(0), WHOLE, range(3))


@pytest.mark.parametrize("name", ["l2-risk", "tv-risk"])
def test_a_risk_is_that_of_the_inverse_and_no_more_than_the_worst(name: str) -> None:
    columns = square_channel()
    q = [[v / WHOLE for v in c] for c in columns]
    mean, worst = (
        compiled(utility={"objective": name, "worst_case": w}).statement for w in (False, True)
    )
    low, high = second({"objective": name}, columns)
    found = value(mean, columns, WHOLE)
    assert low <= found <= high * (1 + Fraction(1, 2**60))
    assert found <= value(worst, columns, WHOLE, prior=PRIOR)
    readings = decoder(mean, "estimator", range(K), columns, WHOLE) or []
    for z, row in enumerate(zip(*q, strict=True)):
        means = [dot(list(row), [float(w[x]) for w in readings]) for x in range(K)]
        assert means == pytest.approx([float(x == z) for x in range(K)], abs=1e-9)
    with pytest.raises(CertificateError, match="infinite"):
        value(mean, channel(0), WHOLE)


def test_readings_are_unbiased_and_their_variance_exact() -> None:
    columns = [
        [WHOLE // 4, WHOLE // 2, WHOLE // 4, 0],
        [3 * WHOLE // 4, WHOLE // 2, 3 * WHOLE // 4, WHOLE],
    ]
    utility = {"objective": "unbiased-variance", "values": [1, 2, 1, 0], "worst_case": True}
    statement = compiled(utility=utility).statement
    readings = [Fraction(4), Fraction(0)]
    assert value(statement, columns, WHOLE, readings=readings) == 4
    assert decoder(statement, "readings", range(K), columns, WHOLE, readings) == readings
    for wrong in (None, readings[:1], [Fraction(4), Fraction(1)]):
        with pytest.raises(CertificateError, match="reading"):
            value(statement, columns, WHOLE, readings=wrong)


def test_a_decoder_is_of_the_posterior() -> None:
    """Where an output never occurs, of the prior."""
    columns = [*channel(0), [0] * K]
    exact = [tuple(Fraction(v, WHOLE) for v in q) for q in columns]
    asked: Any = SimpleNamespace(prior=tuple(PRIOR), inputs=read_domain(GRID))
    for table in AIMS:
        problem = compiled(utility=table, outputs=OUTPUTS)
        reads, labels = problem.table.utility.reads, problem.inputs.labels
        found = decoder(problem.statement, reads, labels, columns, WHOLE)
        assert found == files.decoder({"problem": {"utility": table}}, asked, exact)


@pytest.mark.parametrize(
    "table",
    [
        {"objective": "distortion", "matrix": [[1] * 3] * (K - 1)},
        {"objective": "distortion", "matrix": [["-1"] * 3, *[[1] * 3] * (K - 1)]},
        {"objective": "mean-absolute-error"},
        {"objective": "g-vulnerability", "gain_matrix": [[1, "-1", 0, 0]]},
        {"objective": "posterior-mean-squared-error"},
        {"objective": "posterior-mean-squared-error", "values": [1]},
        {"objective": "fisher-information", "scores": [[]] * K},
        {"objective": "total-variation", "first": [1, 0, 0, 0], "second": [1, 1, 0, 0]},
        {"objective": "unbiased-variance", "values": [1]},
    ],
)
def test_an_objective_that_contradicts_itself_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(CertificateError):
        compiled(utility=table, outputs=OUTPUTS)


def test_mixtures_and_risks_are_of_inputs_that_occur() -> None:
    mixtures, prior = {"first": [1, 0, 0, 0], "second": ["1/2", 0, "1/2", 0]}, ["1/2", "1/2", 0, 0]
    with pytest.raises(CertificateError, match="an input of prior 0"):
        compiled(utility={"objective": "chi-squared", **mixtures}, prior=prior)
    with pytest.raises(CertificateError, match="a prior without zeros"):
        compiled(utility={"objective": "l2-risk"}, prior=prior)


def test_only_outputs_that_are_a_grid_of_inputs_have_sides() -> None:
    points = [(a, b) for a in range(2) for b in range(3)]
    assert hamming(points, points).grid == (2, 3)
    assert hamming(list("abc"), list("abc")).grid == (1, 3)
    assert hamming(points, points[::-1]).grid is None
    for kind in ("euclidean", "squared"):
        assert distances(points, points, 1, kind).grid == (2, 3)
        assert distances(points, points[::-1], 1, kind).grid is None
    uneven = [(a, b) for a in range(2) for b in (0, 1, 3)]
    assert distances(uneven, uneven, 1, "euclidean").grid is None


def test_a_rectangle_of_outputs_costs_what_its_nearest_output_does() -> None:
    sides = (3, 4)
    points = list(product(*map(range, sides)))
    losses = distances(points, points, 1, "squared")
    ends = [list(combinations_with_replacement(range(n), 2)) for n in sides]
    listed = [(*down, *across) for down, across in product(*ends)]
    found = cells(losses.lower(0), 1, sides, listed)
    for y, (top, bottom, left, right) in enumerate(listed):
        inside = product(range(top, bottom + 1), range(left, right + 1))
        rows = [losses.lower(points.index(output)) for output in inside]
        assert found.lower(y) == list(map(min, zip(*rows, strict=True)))


def test_an_output_of_points_is_the_number_of_one() -> None:
    on = Inputs((0, 1), ((ONE,), (2 * ONE,)), spacing=None)
    assert on.target(1) == (2,)
    for output in (2, -1, True, (0, 1)):
        with refused("not the number of a point"):
            on.target(output)
    with refused("not a number"):
        Inputs((0, 1)).target((1, "1"))


def test_labels_have_coordinates_if_all_are_numbers() -> None:
    assert Domain(values=(1, 2.5)).inputs().points == ((1,), (Fraction(5, 2),))
    assert Domain(values=(1, "a")).inputs().points is None


def test_blocks_of_rows_and_columns_need_a_grid() -> None:
    block = Notion("block", {"epsilon": ONE, "block_rows": 1, "block_columns": 1})
    for on in (Inputs((0, 1)), Inputs(((0, 0), 5)), Inputs(((0, 0), (0, 1)), spacing=None)):
        with refused("need a grid"):
            block.asked(on)


def test_budgets_and_distances_are_not_negative() -> None:
    on = Inputs((0, 1), prior=(ONE / 2, ONE / 2))
    with refused("a budget is below 0"):
        Notion("context-aware", {"matrix": (("inf", -ONE), (ONE, "inf"))}).asked(on)
    for table in ((), ((ONE,),), ((ONE, ZERO), (ONE,)), ((), ()), ((ZERO, -ONE), (ONE, ZERO))):
        with refused("expected distances >= 0"):
            Notion("attack-error", {"least": ONE, "distance": table}).asked(on)


@pytest.mark.parametrize(("distance", "irrational"), [("euclidean", True), ("squared", False)])
def test_an_attack_has_two_ends_where_distances_are_irrational(
    distance: str, irrational: bool
) -> None:
    on = Inputs((0, 1), ((ZERO, ZERO), (ONE, ONE)), None, (ONE / 2, ONE / 2))
    (gauge,) = Notion("attack-error", {"least": ONE, "distance": distance}).asked(on)
    assert (gauge.below is not None) == irrational
    assert (gauge.nets(weak=True) != gauge.nets(weak=False)) == irrational


@pytest.mark.parametrize("p", [(ONE / 3, 2 * ONE / 3), None])
def test_an_estimator_of_the_worst_case_is_made_for_the_prior_given(p: Any) -> None:
    found = reference_prior(Statement(2, (), (), Risk(False, None)), p)
    assert found == (p or (ONE / 2, ONE / 2))


def test_no_information_leaves_inputs_without_mass_free() -> None:
    on = Inputs((0, 1, 2, 3), prior=(ZERO, ONE / 2, ONE / 2, ZERO))
    (part,) = Notion("mutual-information", {"epsilon": ZERO}).asked(on)
    bounded = {(x, z) for x in range(4) for z in range(4) if part.exponents.at(x, z, up=True) == 0}
    assert bounded == {(1, 2), (2, 1)}
