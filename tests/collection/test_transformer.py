"""The transformer keeps the conventions of scikit-learn, and its reports are those of a channel."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from mechdesign import LDP, LIP, Channel, HammingLoss, Prior, Problem, design
from mechdesign.collection.transformer import ChannelTransformer
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse
from tests.refusals_support import check_refused

COLOURS = ["red", "green", "blue"]
SIZES = ["S", "L"]


def table(n: int = 300) -> list[list[str]]:
    return [[COLOURS[i % 3], SIZES[i % 2]] for i in range(n)]


def both(**more: Any) -> ChannelTransformer:
    return ChannelTransformer(epsilon=1, categories=[COLOURS, SIZES], **more)


def test_each_column_goes_through_a_channel_private_at_epsilon() -> None:
    fitted = both().fit(table())
    assert [list(c) for c in fitted.categories_] == [COLOURS, SIZES]
    for mechanism, k in zip(fitted.mechanisms_, (3, 2), strict=True):
        assert mechanism.shape[0] == k
        assert LDP(1).holds(mechanism)
        assert not LDP("0.99").holds(mechanism)
    reports = fitted.transform(table())
    assert reports.shape == (300, 2)
    for j, mechanism in enumerate(fitted.mechanisms_):
        assert set(reports[:, j]) <= set(mechanism.outputs)


def test_the_reports_are_those_of_the_channels_column_after_column() -> None:
    fitted = both(rng=5).fit(table())
    stream = np.random.default_rng(5)
    wanted = [
        mechanism.privatize([row[j] for row in table()], stream).labels()
        for j, mechanism in enumerate(fitted.mechanisms_)
    ]
    assert fitted.transform(table()).T.tolist() == wanted


def test_frequencies_are_estimated_from_the_reports() -> None:
    rows = [["red", "L"]] * 4000 + [["blue", "S"]] * 16_000
    private = both(rng=2)
    colours, sizes = private.estimate(private.fit_transform(rows))
    assert colours.simulated
    assert private.simulated_
    assert not both().fit(rows).simulated_
    for found, truth in ((colours, [0.2, 0, 0.8]), (sizes, [0.8, 0.2])):
        assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()
    likely = private.estimate(private.transform(rows), method="maximum-likelihood")[0]
    assert likely.values.min() >= 0


def test_arrays_frames_and_lists_are_the_same_table() -> None:
    pd = pytest.importorskip("pandas")
    rows = table()
    frame = pd.DataFrame(rows, columns=["colour", "size"])
    wanted = both(rng=1).fit_transform(rows).tolist()
    for X in (np.array(rows), np.array(rows, dtype=object), frame, [tuple(row) for row in rows]):
        assert both(rng=1).fit_transform(X).tolist() == wanted
    one = ChannelTransformer(epsilon=1, rng=1)
    single = [row[0] for row in rows]
    wanted = one.fit_transform([[x] for x in single]).tolist()
    for column in (single, np.array(single), pd.Series(single), frame[["colour"]]):
        assert ChannelTransformer(epsilon=1, rng=1).fit_transform(column).tolist() == wanted


def test_categories_are_read_where_they_are_not_given() -> None:
    numbers = np.array([[3, 0.5], [1, 0.25], [2, 0.5]])
    fitted = ChannelTransformer(epsilon=1).fit(numbers)
    assert [list(c) for c in fitted.categories_] == [[1, 2, 3], [0.25, 0.5]]


def test_ways_to_say_which_channel() -> None:
    column = [["a"], ["b"], ["c"]]
    grr = GeneralizedRandomizedResponse(["a", "b", "c"], 1)
    assert ChannelTransformer(grr).fit(column).mechanisms_ == [grr]
    made = ChannelTransformer(lambda d: HadamardResponse(d, 2)).fit(column).mechanisms_[0]
    assert made == HadamardResponse(["a", "b", "c"], 2)
    prior = Prior(["1/2", "1/4", "1/4"])
    lip = ChannelTransformer(
        lambda d: design(Problem(d, LIP(1), HammingLoss(), prior=prior)).channel
    ).fit(column)
    assert LIP(1).holds(lip.mechanisms_[0], prior)
    many = ChannelTransformer(epsilon=1).fit([[n] for n in range(100)])
    assert isinstance(many.mechanisms_[0], HadamardResponse)


def test_reports_that_are_sets_go_there_and_back() -> None:
    unary = pytest.importorskip("mechdesign.mechanisms.reported_sets")
    mechanism = unary.OptimizedUnaryEncoding(COLOURS, 2)
    private = ChannelTransformer(mechanism, rng=3)
    reports = private.fit_transform([["red"]] * 5000)
    assert isinstance(reports[0, 0], tuple)
    found = private.estimate(reports)[0]
    assert (np.abs(found.values - [1, 0, 0]) < 4 * found.standard_errors + 1e-9).all()


def test_unknown_and_missing_values() -> None:
    rows = [["red"], ["purple"], [None], [float("nan")]]
    strict = ChannelTransformer(epsilon=1, categories=[COLOURS]).fit([["red"]])
    check_refused(r"column 0\[1\]: .*given another value; .*map", strict.transform, rows)
    mapped = ChannelTransformer(epsilon=1, categories=[COLOURS], unknown="map:blue", rng=1).fit(
        rows
    )
    known = [["red"], ["blue"], ["blue"], ["blue"]]
    assert mapped.transform(rows).tolist() == mapped.transform(known).tolist()
    check_refused("unknown", lambda: mapped.set_params(unknown="map:pink").transform(rows))


# --- the conventions of scikit-learn --------------------------------------------------------------


EXPECTED_FAILURES = {
    "check_complex_data": "complex numbers are refused in other words",
    "check_estimators_nan_inf": "infinity may be a category",
    "check_estimators_pickle": "it compares reports as numbers",
    "check_fit_idempotent": "it compares reports as numbers",
    "check_fit1d": "one column may be of one dimension",
    "check_fit2d_predict1d": "one column may be of one dimension",
    "check_fit2d_1sample": "the categories of one record are too few, which is said in other words",
}


def test_the_checks_of_scikit_learn() -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(
        ChannelTransformer(epsilon=1), expected_failed_checks=EXPECTED_FAILURES, on_skip=None
    )
    statuses = Counter(result["status"] for result in results)
    assert statuses["passed"] >= 25
    assert statuses["failed"] == 0


def test_it_is_pickled() -> None:
    fitted = both(rng=1).fit(table())
    again = pickle.loads(pickle.dumps(fitted))
    assert again.transform(table()).tolist() == fitted.transform(table()).tolist()


def test_it_is_cloned() -> None:
    base = pytest.importorskip("sklearn.base")
    grr = GeneralizedRandomizedResponse(COLOURS, 1)
    channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=SIZES)
    transformers = [both(rng=3), ChannelTransformer(grr), ChannelTransformer(channel)]
    for private, row in zip(transformers, (["red", "S"], ["red"], ["S"]), strict=True):
        private.fit([row])
        private.set_output(transform="pandas")
        copy = base.clone(private)
        assert not hasattr(copy, "mechanisms_")
        assert repr(copy) == repr(private)
        assert copy.mechanism == private.mechanism
        assert copy._sklearn_output_config == {"transform": "pandas"}


def test_it_stands_in_a_pipeline() -> None:
    pytest.importorskip("sklearn")
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    rows = table(600)
    labels = [row[0] == "red" for row in rows]
    model = make_pipeline(
        ChannelTransformer(epsilon=6, categories=[COLOURS, SIZES], rng=1),
        OneHotEncoder(handle_unknown="ignore"),
        MultinomialNB(),
    )
    model.fit(rows, labels)
    check_is_fitted(model.steps[0][1])
    assert model.score(rows, labels) > 0.9
    assert "ChannelTransformer" in repr(model)
    assert get_tags(model.steps[0][1]).non_deterministic
    assert model.set_params(channeltransformer__epsilon=3).steps[0][1].epsilon == 3


def test_it_stands_in_a_column_transformer() -> None:
    pytest.importorskip("sklearn")
    pd = pytest.importorskip("pandas")
    from sklearn.compose import ColumnTransformer

    frame = pd.DataFrame(table(), columns=["colour", "size"]).assign(age=range(300))
    frame.index = range(1000, 1300)
    wide = ColumnTransformer(
        [("private", both(rng=1), ["colour", "size"]), ("as is", "passthrough", ["age"])],
        verbose_feature_names_out=False,
    )
    plain = wide.fit_transform(frame)
    assert plain.shape == (300, 3)
    assert list(wide.get_feature_names_out()) == ["colour", "size", "age"]
    framed = wide.set_output(transform="pandas").fit_transform(frame)
    assert list(framed.columns) == ["colour", "size", "age"]
    assert list(framed.index) == list(frame.index)
    assert framed["colour"].tolist() == plain[:, 0].tolist()


def test_names_of_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(), columns=["colour", "size"])
    fitted = both().fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["colour", "size"]
    check_refused("columns", fitted.transform, frame[["size", "colour"]])
    with pytest.raises(ValueError, match="input_features"):
        fitted.get_feature_names_out(["a", "b"])
    assert both().fit(table()).get_feature_names_out().tolist() == ["x0", "x1"]
    refitted = fitted.fit(table())
    assert refitted.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("parameters", "X", "key"),
    [
        ({}, [["a"], ["b"]], "epsilon"),
        ({"epsilon": 1, "mechanism": lambda d: d}, [["a"], ["b"]], "epsilon"),
        ({"epsilon": 1, "unknown": "drop"}, [["a"], ["b"]], "unknown"),
        ({"epsilon": 1, "rng": "seed"}, [["a"], ["b"]], "rng"),
        ({"epsilon": 1, "categories": "all"}, [["a"], ["b"]], "categories"),
        ({"epsilon": 1, "categories": [["a", "b"]] * 2}, [["a"], ["b"]], "categories"),
        ({"epsilon": 1}, [["a"], ["a"]], "categories[0]"),
        ({"epsilon": 1}, [["a"], [None]], "X"),
        ({"epsilon": 1}, [["a"], [{}]], "X"),
        ({"epsilon": 1}, [["a", "b"], ["a"]], "X"),
        ({"epsilon": 1}, [], "X"),
        ({"epsilon": 1}, np.zeros((2, 2, 2)), "X"),
        ({"epsilon": 1}, "abc", "X"),
        ({"epsilon": 1}, scipy.sparse.dia_matrix(np.eye(2)), "X"),
        ({"mechanism": lambda d: d}, [["a"], ["b"]], "mechanism"),
        ({"mechanism": 3}, [["a"], ["b"]], "mechanism"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], X: Any, key: str) -> None:
    assert check_refused("", lambda: ChannelTransformer(**parameters).fit(X)).key == key


def test_it_must_be_fitted_and_its_reports_be_reports() -> None:
    with pytest.raises(NotFittedError, match="fit"):
        both().transform(table())
    with pytest.raises(NotFittedError, match="fit"):
        both().estimate(table())
    fitted = both().fit(table())
    check_refused("2 columns", fitted.transform, [["red"]])
    check_refused(r"column 0\[0\]", fitted.estimate, [["no report", 0]])
    with pytest.raises(ValueError, match="pandas"):
        fitted.set_output(transform="lists").transform(table())
