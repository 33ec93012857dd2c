"""Saved files of every kind that the library writes, for small problems: checkers agree on them."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from mechdesign import (
    LDP,
    LIP,
    PML,
    ApproximateLDP,
    ApproximateLIP,
    AsymmetricLift,
    AttackError,
    BayesAccuracy,
    BlockLDP,
    BoundedPriorLift,
    BoundedPriorLIP,
    BoundedPriorPML,
    Channel,
    ChiSquared,
    ColumnUtility,
    ContextAwareLDP,
    ContinuousProblem,
    DifferentialIdentifiability,
    Distortion,
    Domain,
    EuclideanDistance,
    FisherInformation,
    GVulnerability,
    GVulnerabilityLeakage,
    HammingLoss,
    HighLowLDP,
    Histogram,
    KullbackLeibler,
    L2Risk,
    LinearNotion,
    MaximalLeakage,
    MeanAbsoluteError,
    MeanSquaredDistance,
    MetricPrivacy,
    MutualInformation,
    MutualInformationLeakage,
    NamedLaw,
    PlaneHistogram,
    PlaneMixture,
    PlaneSamples,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    SquaredHellinger,
    TotalVariation,
    TVRisk,
    UnbiasedVariance,
    UnsupportedError,
    design,
    save,
)
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    GeometricNoise,
    HadamardResponse,
    LIPRandomizedResponse,
    OptimizedUnaryEncoding,
    PlanarLaplace,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from mechdesign.notions import Notion, SensitiveAttribute, SensitiveAttributePrivacy
from mechdesign.utilities import Utility
from tests.documents import by_multipliers
from tests.mechanisms_support import (
    block_hadamard,
    block_subset_selection,
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_subset_selection,
)

Document = dict[str, Any]

PRIOR = ["0.2", "0.3", "0.5"]
FOUR = [0.1, 0.2, 0.3, 0.4]
ILLNESS = SensitiveAttribute(["ill", "well"], given_input=[[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
TWO_PRIORS = BoundedPriorLIP(1, priors=[["0.2", "0.3", "0.5"], ["0.3", "0.3", "0.4"]])
MATRIX = ContextAwareLDP([[0, 1, 2], [0.5, 0, 1], ["inf", 1, 0]])
OWN_ROWS = [
    {"name": "one against two", "left": {0: 1}, "exponent": 0.5, "right": {1: 1, 2: "1/2"}},
    {"name": "back", "left": [[1, 1]], "exponent": 1, "slope": 0.25, "right": [[0, "1/3"], [2, 2]]},
]

CONIC: dict[str, Notion] = {
    "ldp": LDP(1),
    "lip": LIP(1),
    "lift": AsymmetricLift("0.7", 1),
    "lower lift": AsymmetricLift("0.7", "inf"),
    "pml": PML("0.8"),
    "metric": MetricPrivacy(1, "absolute"),
    "distances": MetricPrivacy("0.7", [[0, 1, 2], [1, 0, "1.5"], [2, "1.5", 0]]),
    "matrix": MATRIX,
    "high-low": HighLowLDP(1, [0]),
    "block": BlockLDP(1, [[0, 2], [1]]),
    "identifiability": DifferentialIdentifiability("1.3"),
    "priors": TWO_PRIORS,
    "box": BoundedPriorLIP("0.9", lower=["0.1", "0.2", "0.4"], upper=["0.3", "0.4", "0.6"]),
    "ball": BoundedPriorLIP(1, center=PRIOR, radius="0.05"),
    "priors of pml": BoundedPriorPML("0.8", center=PRIOR, radius="0.05"),
    "priors of lift": BoundedPriorLift(
        "0.9", "0.7", {"lower": ["0.1", "0.2", "0.4"], "upper": ["0.3", "0.4", "0.6"]}
    ),
    "linear": LinearNotion(OWN_ROWS, title="ours", epsilon="0.4"),
    "secret": SensitiveAttributePrivacy(LIP("0.5"), ILLNESS),
}
WHOLE_CHANNEL: dict[str, Notion] = {
    "approximate-ldp": ApproximateLDP(1, "0.05"),
    "approximate-lip": ApproximateLIP("0.8", "0.02"),
    "information": MutualInformationLeakage("0.1"),
    "leakage": MaximalLeakage("0.3"),
    "guess": GVulnerabilityLeakage("0.6"),
    "tries": GVulnerabilityLeakage("0.9", [[1, 1, 0], [0, "0.5", 1], [0.3, 0.3, 0.3]]),
    "attack": AttackError("0.3", "absolute"),
    "errors": AttackError("0.15", [[0, 1], [1, "0.2"], [3, 0]]),
}
LOSSES: dict[str, Utility] = {
    "absolute": MeanAbsoluteError(),
    "squared": MeanSquaredDistance(),
    "hamming": HammingLoss(),
    "euclidean": EuclideanDistance(),
    "matrix": Distortion([[0, 2, "1.5"], [1, 0, 2], [3, 1, 0]]),
    "worst": MeanAbsoluteError(worst_case=True),
    "worst hamming": HammingLoss(worst_case=True),
}
GAINS: dict[str, Utility] = {
    "posterior": PosteriorMeanSquaredError(values=[1, 0, 3]),
    "histogram": PosteriorMeanSquaredError(histogram=True),
    "information": MutualInformation(),
    "accuracy": BayesAccuracy(),
    "l2": L2Risk(),
    "tv": TVRisk(),
}
PURPOSES: dict[str, Utility] = {
    "guess": GVulnerability([[1, "0.5", 0], [0, 1, 1], ["0.3", 0, 2], [0, 0, 0]]),
    "score": FisherInformation([-1, -1, 1]),
    "scores": FisherInformation([[-1, 1], [-1, 1], [1, -1]]),
    "variation": TotalVariation(0, ["0.25", "0.25", "0.5"]),
    "divergence": KullbackLeibler(["0.5", "0.5", 0], ["0.25", "0.25", "0.5"]),
    "chi": ChiSquared([0, "0.5", "0.5"], ["0.2", "0.2", "0.6"]),
    "Hellinger": SquaredHellinger(0, {1: "0.5", 2: "0.5"}),
}
WORST_READING = UnbiasedVariance([1, 3, 2], worst_case=True)
WORST_RISKS: dict[str, Utility] = {"l2 worst": L2Risk(True), "tv worst": TVRisk(True)}


class Largest(ColumnUtility):
    """An objective that a file cannot carry."""

    name = "largest"
    sense = "maximize"

    def gain(self, columns: np.ndarray, prior: np.ndarray) -> np.ndarray:
        found: np.ndarray = columns.max(axis=0)
        return found


def _solved(*stated: Any, route: str = "auto", **keys: Any) -> Callable[[], Document]:
    def solve() -> Document:
        return design(Problem(*stated, **keys), route=route).document()

    return solve


def _by_multipliers(*stated: Any, **keys: Any) -> Callable[[], Document]:
    """Prove by multipliers of rows what prices would prove, as files of older versions do."""

    def solve() -> Document:
        with by_multipliers():
            return design(Problem(*stated, **keys), route="linear-program").document()

    return solve


def _packed(
    domain: Any, notion: Any, utility: Any = None, *, route: str = "auto", **keys: Any
) -> Callable[[], Document]:
    """Pack multipliers as those of large problems are."""

    def solve() -> Document:
        problem = Problem(domain, notion, utility or MeanAbsoluteError(), **keys)
        with by_multipliers(), mock.patch("mechdesign.kernel.packed.PACKED_FROM", 1):
            return design(problem, route=route).document()

    return solve


def _as_if_large(*stated: Any, **keys: Any) -> Callable[[], Document]:
    """Solve a small problem as large ones are, for which not all extreme rays can be listed."""
    many = UnsupportedError("domain", "a cone of few extreme rays", "more")

    def solve() -> Document:
        with (
            mock.patch("mechdesign.search.rays.extreme_rays.LISTED_UP_TO", 0),
            mock.patch("mechdesign.search.rays.extreme_rays.all_rays", side_effect=many),
        ):
            return design(Problem(*stated, **keys), route="extreme-rays").document()

    return solve


def _with_terms(own_objective: bool) -> Document:
    import cvxpy as cp

    problem = Problem(range(3), LDP(1), HammingLoss(), prior=PRIOR)
    if own_objective:
        return design(problem, objective=cp.sum_squares(problem.Q - np.eye(3))).document()
    return design(problem, constraints=[problem.Q[0, 0] <= 0.5]).document()


def _written(thing: Any) -> Document:
    with tempfile.TemporaryDirectory() as folder:
        save(thing, Path(folder) / "file.json")
        document: Document = json.loads((Path(folder) / "file.json").read_text())
    return document


def _as_if_many(*stated: Any, **keys: Any) -> Callable[[], Document]:
    """Solve a small problem of estimation as large ones are, whose rays cannot be listed."""

    def solve() -> Document:
        module = "mechdesign.search.estimation_risk.solve"
        with (
            mock.patch(f"{module}._listed", return_value=None),
            mock.patch(f"{module}.relaxed", return_value=None),
        ):
            return design(Problem(*stated, **keys), route="estimation").document()

    return solve


def _mechanisms() -> Iterator[tuple[str, Callable[[], Document]]]:
    made = {
        "randomized response": lambda: GeneralizedRandomizedResponse(["a", "b", "c"], 1),
        "Hadamard": lambda: HadamardResponse(5, 1),
        "Hadamard copies": lambda: HadamardResponse(7, 3),
        "projective": lambda: ProjectiveGeometryResponse(10, 1),
        "projective high-low": lambda: high_low_projective_geometry(5, 1, [0, 1, 3]),
        "optimized unary": lambda: OptimizedUnaryEncoding(4, 1),
        "symmetric unary": lambda: SymmetricUnaryEncoding(4, "0.5"),
        "subsets": lambda: SubsetSelection(6, 1),
        "grid": lambda: block_subset_selection(Domain.grid(2, 4), 1, block_rows=2, block_columns=2),
        "parts": lambda: ByComponent(
            5,
            BlockLDP(2, [[4, 1], [0, 2, 3]]),
            [OptimizedUnaryEncoding(2, 1), SubsetSelection(3, 2)],
        ),
        "clear": lambda: block_hadamard(3, 1, [[0, 2], [1]]),
        "high-low": lambda: high_low_hadamard(["a", "b", "c", "d"], 1, ["d", "a", "b"]),
        "high-low subsets": lambda: high_low_subset_selection(6, 1, range(4)),
        "lip": lambda: LIPRandomizedResponse(3, 1, Prior(["0.3", "0.3", "0.4"])),
        "line noise": lambda: GeometricNoise(4, 3),
        "walking noise": lambda: GeometricNoise(Domain.grid(2, 3, spacing="0.5"), 9),
        "planar noise": lambda: PlanarLaplace(Domain.grid(3, 3), 4),
        "remapped noise": lambda: PlanarLaplace(Domain.grid(2, 3), 3).remapped(
            Prior(["0.1", "0.1", "0.1", "0.1", "0.1", "0.5"])
        ),
    }
    for name, make in made.items():
        yield f"mechanism {name}", lambda make=make: _written(make())
    channel = Channel.from_matrix([["0.5", "0.5"], ["0.25", "0.75"], [1, 0]])
    yield "bare channel", lambda: _written(channel)


def _problems() -> Iterator[tuple[str, Callable[[], Document]]]:
    three = range(3)
    for name, notion in CONIC.items():
        for aim, utility in {**LOSSES, **GAINS}.items():
            yield f"{name}: {aim}", _solved(three, notion, utility, prior=PRIOR)
    for name in ("ldp", "lip", "matrix", "secret", "linear", "priors"):
        for aim, utility in PURPOSES.items():
            yield f"{name}: {aim}", _solved(three, CONIC[name], utility, prior=PRIOR)
    single = {"divergence": KullbackLeibler(0, 2), "chi": ChiSquared(2, 1)}
    for aim, utility in single.items():
        yield f"single: {aim}", _solved(three, LDP(2), utility, prior=PRIOR)
    yield (
        "by rays: score",
        _solved(three, LIP(1), PURPOSES["score"], route="extreme-rays", prior=PRIOR),
    )
    yield "two: score", _solved([0, 1], LDP(1), FisherInformation([9, -1]), prior=["0.1", "0.9"])
    yield (
        "nothing: score",
        _solved(three, ContextAwareLDP([["inf"] * 3] * 3), PURPOSES["score"], prior=PRIOR),
    )
    for name, notion in WHOLE_CHANNEL.items():
        guess = PURPOSES["guess"]
        for aim, utility in {**LOSSES, "accuracy": BayesAccuracy(), "guess": guess}.items():
            yield f"{name}: {aim}", _solved(three, notion, utility, prior=PRIOR)
    for name in ("ldp", "lip", "metric"):
        for aim, utility in WORST_RISKS.items():
            yield f"{name}: {aim}", _solved(three, CONIC[name], utility, prior=PRIOR)
    even = Prior.uniform(4)
    four = {**GAINS, "posterior": PosteriorMeanSquaredError(), "hamming": HammingLoss()}
    for name, notion in {"ldp": LDP(1), "lip": LIP(1), "pml": PML(1)}.items():
        for aim, utility in {**four, **WORST_RISKS}.items():
            yield f"uniform {name}: {aim}", _solved(range(4), notion, utility, prior=even)
    for name, notion in {"ldp": LDP(1), "lip": LIP("0.5"), "lift": AsymmetricLift(1, 2)}.items():
        for aim in ("absolute", "posterior", "histogram", "information", "accuracy", "l2"):
            utility = PosteriorMeanSquaredError() if aim == "posterior" else (LOSSES | GAINS)[aim]
            yield f"two {name}: {aim}", _solved([0, 1], notion, utility, prior=["0.1", "0.9"])
            yield f"four {name}: {aim}", _solved(range(4), notion, utility, prior=FOUR)
    free = ContextAwareLDP([["inf"] * 3] * 3)
    for aim in ("hamming", "worst", "posterior", "histogram", "information", "accuracy"):
        utility = (LOSSES | GAINS)[aim]
        yield f"nothing: {aim}", _solved(three, free, utility, prior=PRIOR)
        yield f"equal: {aim}", _solved(three, LDP(0), utility, prior=PRIOR)
        both = [LDP("1.4"), LIP("0.8")]
        yield f"both: {aim}", _solved(three, both, utility, prior=PRIOR)
        zero = ["0", "1/3", "2/3"]
        yield f"zero prior: {aim}", _solved(three, LIP(1), utility, prior=zero)
    grid = Domain.grid(2, 2, "0.5")
    euclid = MetricPrivacy(2, "euclidean")
    yield "grid", _solved(grid, euclid, EuclideanDistance())
    attacked = [euclid, AttackError("0.3", "euclidean")]
    yield "grid attacked", _solved(grid, attacked, EuclideanDistance(), prior=["0.25"] * 4)
    guarded = [LDP(2), GVulnerabilityLeakage("0.55"), MaximalLeakage("0.4")]
    yield "guarded", _solved(three, guarded, MeanAbsoluteError(), prior=PRIOR)
    yield "grid accuracy", _solved(grid, MetricPrivacy(1, "manhattan"), BayesAccuracy())
    yield "grid blocks", _solved(grid, BlockLDP(1, block_rows=1, block_columns=2), HammingLoss())
    plane = Domain.points([["0", "0"], ["0.5", "-1"], ["1/3", "2"]])
    yield "points", _solved(plane, MetricPrivacy(1, "euclidean"), EuclideanDistance())
    yield "points squared", _solved(plane, LDP(1), MeanSquaredDistance(), outputs=[0, 2])
    earth = Domain.points([["39.9", "116.4"], ["39.8", "116.3"], ["-39", "0"]], "haversine")
    metres = MetricPrivacy("0.0001", earth.distance)
    yield "places", _solved(earth, metres, Distortion(earth.distance))
    yield "words", _solved(["a", "b", "c"], HighLowLDP(1, ["a"]), HammingLoss(), prior=PRIOR)
    yield "line", _solved(range(5), MetricPrivacy(1, "absolute"), MeanAbsoluteError())
    yield "outputs", _solved(three, LDP(1), MeanAbsoluteError(), outputs=[0, 0.5, 2.5])
    routes = {
        "linear-program": ("ldp", "absolute"),
        "columns": ("ldp", "absolute"),
        "interior": ("ldp", "absolute"),
        "coarse": ("metric", "absolute"),
        "conic": ("approximate-ldp", "hamming"),
        "cvxpy:CLARABEL": ("lip", "hamming"),
        "decoder-grid": ("lip", "posterior"),
        "extreme-rays": ("ldp", "posterior"),
        "estimation": ("ldp", "l2"),
        "readings": ("ldp", "reading"),
    }
    everything = CONIC | WHOLE_CHANNEL
    aims = LOSSES | GAINS
    for route, (name, aim) in routes.items():
        stated = (range(4), everything[name], aims.get(aim))
        if aim in ("posterior", "reading"):
            utility = PosteriorMeanSquaredError() if aim == "posterior" else UnbiasedVariance()
            stated = (range(4), everything[name], utility)
        yield f"by {route}", _solved(*stated, prior=FOUR, route=route)
    for name in ("ldp", "high-low", "block", "lip", "metric", "linear", "secret", "ball"):
        for aim, readings in (("", UnbiasedVariance([1, 3, 2])), (" worst", WORST_READING)):
            yield f"reading{aim} {name}", _solved(three, CONIC[name], readings, prior=PRIOR)
    yield (
        "chain",
        _solved(range(4), CONIC["metric"], MeanAbsoluteError(), prior=FOUR, route="columns"),
    )
    for name in ("lip", "lift", "pml"):
        for aim in ("information", "histogram", "posterior"):
            yield f"large {name}: {aim}", _as_if_large(three, CONIC[name], aims[aim], prior=PRIOR)
    for name in ("ldp", "metric", "matrix", "high-low", "block", "linear", "secret"):
        large = _as_if_large(three, CONIC[name], MutualInformation(), prior=PRIOR)
        yield f"large {name}: information", large
    yield (
        "large ldp: histogram",
        _as_if_large(range(4), LDP(1), GAINS["histogram"], prior=["0.1", "0.3", "0.3", "0.3"]),
    )
    for name in ("ldp", "lip", "pml", "metric", "high-low"):
        for aim in ("absolute", "worst", "accuracy", "guess"):
            stated = (three, CONIC[name], (LOSSES | GAINS | PURPOSES)[aim])
            yield f"multipliers {name}: {aim}", _by_multipliers(*stated, prior=PRIOR)
    for aim, utility in {"l2": L2Risk(), "tv": TVRisk(), **WORST_RISKS}.items():
        yield f"products matrix: {aim}", _as_if_many(three, CONIC["matrix"], utility, prior=PRIOR)
    for aim, utility in {"l2": L2Risk(), "tv": TVRisk(), **WORST_RISKS}.items():
        yield f"products ldp: {aim}", _as_if_many(three, LDP(1), utility, prior=PRIOR)
    yield "products lip: l2", _as_if_many(three, CONIC["lip"], L2Risk(), prior=PRIOR)
    for name in ("ldp", "lip", "matrix", "linear", "secret", "priors", "approximate-ldp"):
        route = "linear-program" if name == "ldp" else "auto"  # a closed form needs no multipliers
        notion = (CONIC | WHOLE_CHANNEL)[name]
        yield f"packed {name}", _packed(three, notion, prior=PRIOR, route=route)
    yield "packed decoders", _packed(three, both, GAINS["posterior"], prior=PRIOR)
    yield "own objective", _solved(three, LDP(1), Largest(), prior=PRIOR)
    yield "own constraint", lambda: _with_terms(own_objective=False)
    yield "own terms", lambda: _with_terms(own_objective=True)


CASES: dict[str, Callable[[], Document]] = dict([*_mechanisms(), *_problems()])


BETA = NamedLaw("beta", [2, 3])
BEST = PosteriorMeanSquaredError()
ON_INTERVALS: dict[str, tuple[Any, Any, Utility, Any]] = {
    "ldp": ([0, 1], LDP(1), LOSSES["absolute"], None),
    "ldp worst": ([0, 1], LDP(1), LOSSES["worst"], BETA),
    "lip": ([0, 1], LIP(1), LOSSES["squared"], Histogram([0, "1/2", 1], ["1/3", "2/3"])),
    "lip worst": ([0, 1], LIP(1), LOSSES["worst"], BETA),
    "lift": (["-inf", 1], AsymmetricLift("0.7", 1), LOSSES["absolute"], NamedLaw("normal")),
    "pml and ldp": ([0, 1], [PML(1), LDP(2)], LOSSES["absolute"], BETA),
    "metric": ([0, 1], MetricPrivacy(3, "absolute"), LOSSES["absolute"], BETA),
    "metric worst": ([0, 1], MetricPrivacy(3, "absolute"), LOSSES["worst"], BETA),
    "estimate": ([0, 1], LIP(1), BEST, BETA),
    "approximate-ldp": ([0, 1], ApproximateLDP(1, "0.05"), LOSSES["squared"], BETA),
    "approximate-lip": ([0, 1], ApproximateLIP("0.8", "0.02"), LOSSES["absolute"], BETA),
    "information": ([0, 1], MutualInformationLeakage("0.1"), LOSSES["squared"], BETA),
    "leakage": ([0, 1], MaximalLeakage("0.3"), LOSSES["absolute"], BETA),
    "reading": ([0, 1], LDP(1), UnbiasedVariance(), BETA),
    "reading lip": ([0, 1], LIP(1), UnbiasedVariance(), Histogram([0, "1/2", 1], ["1/3", "2/3"])),
    "reading worst": ([0, 1], LDP(1), UnbiasedVariance(worst_case=True), None),
    "reading lip worst": ([0, 1], LIP(1), UnbiasedVariance(worst_case=True), BETA),
    "reading metric worst": (
        [0, 1],
        MetricPrivacy(3, "absolute"),
        UnbiasedVariance(worst_case=True),
        BETA,
    ),
}
"""Interval, notion, loss and law."""


def _on_interval(domain: Any, notion: Any, utility: Utility, law: Any) -> Callable[[], Document]:
    """Design on few nodes, so that the file is short."""

    def solve() -> Document:
        with mock.patch("mechdesign.designs.continuous.FIRST", (6, 3)):
            problem = ContinuousProblem(domain, notion, utility, prior=law)
            return design(problem, gap=9.0).document()

    return solve


POINTS = PlaneSamples([(0, "1/4"), ("1/2", 1), (1, "3/8"), ("3/4", "1/8")])
TOWNS = PlaneMixture(
    ["1/3", "2/3"], [(BETA, NamedLaw("uniform")), (NamedLaw("uniform"), NamedLaw("uniform"))]
)
BINS = PlaneHistogram([[0, "1/2", 1], [0, 1]], [["1/3"], ["2/3"]])
IN_PLANE: dict[str, tuple[Any, Utility, Any]] = {
    "ldp": (LDP(3), LOSSES["squared"], None),
    "ldp distances": (LDP(3), LOSSES["euclidean"], TOWNS),
    "ldp worst": (LDP(3), MeanSquaredDistance(worst_case=True), POINTS),
    "worst distances": (LDP(3), EuclideanDistance(worst_case=True), None),
    "lip": (LIP(1), LOSSES["squared"], POINTS),
    "lift": (AsymmetricLift("0.7", 1), LOSSES["squared"], TOWNS),
    "pml distances": (PML("1.5"), LOSSES["euclidean"], BINS),
    "lip and ldp": ([LIP("1.5"), LDP("2.5")], LOSSES["euclidean"], TOWNS),
    "approximate-ldp": (ApproximateLDP(2, "0.05"), LOSSES["squared"], BINS),
    "approximate-lip": (ApproximateLIP("0.8", "0.02"), LOSSES["squared"], TOWNS),
    "information": (MutualInformationLeakage("0.1"), LOSSES["squared"], BINS),
    "leakage": (MaximalLeakage("0.8"), LOSSES["euclidean"], POINTS),
}
"""Notion, loss and law."""


def _in_plane(notion: Any, utility: Utility, law: Any) -> Callable[[], Document]:
    """Design on few nodes, so that the file is short."""

    def solve() -> Document:
        with mock.patch("mechdesign.designs.continuous.FIRST", (6, 3)):
            problem = ContinuousProblem([(0, 0), (1, 1)], notion, utility, prior=law)
            return design(problem, gap=9.0).document()

    return solve


CONTINUOUS: dict[str, Callable[[], Document]] = {
    f"on an interval, {name}": _on_interval(*stated) for name, stated in ON_INTERVALS.items()
} | {f"in the plane, {name}": _in_plane(*stated) for name, stated in IN_PLANE.items()}
"""Files of numbers and of points, of which the second checker of channels knows nothing."""


@functools.cache
def text_of(name: str) -> str:
    """Return the saved file of a case, as JSON."""
    return json.dumps((CASES | CONTINUOUS)[name]())


def document_of(name: str) -> Document:
    """Return the saved file of a case, to be changed at will."""
    document: Document = json.loads(text_of(name))
    return document
