"""Dask and Spark on a local cluster: parts are drawn where they are, and counts merge exactly."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign import Channel, InputError
from mechdesign.mechanisms import HadamardResponse
from tests.refusals_support import check_refused

pytestmark = [
    pytest.mark.slow,
    # resources left open and warnings by distributed and Spark are not ours
    pytest.mark.filterwarnings("ignore"),
]

KEY = bytes(range(32))
COIN = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"], outputs=["a", "b"])
MANY = HadamardResponse(50, 1)
MECHANISMS: dict[Any, Any] = {"x": COIN, "y": MANY}
N = 4000
TABLE = pd.DataFrame(
    {
        "id": np.arange(N),
        "x": np.random.default_rng(0).choice(["a", "b"], N),
        "y": np.random.default_rng(1).integers(0, 50, N),
    }
)
WANTED = md.privatize(TABLE, MECHANISMS, keep=["id"], key=KEY, ids="id")
"""The tables of one machine."""


def same_as_on_one_machine(reports: pd.DataFrame) -> bool:
    found = reports.sort_values("id").reset_index(drop=True)
    return all(found[name].tolist() == WANTED[name].tolist() for name in ("id", "x", "y"))


def check_estimates(tallies: dict[str, Any]) -> None:
    """Merged counts, and estimates from them, equal those of one machine."""
    for name, tally in md.tally(WANTED, MECHANISMS).items():
        assert tallies[name].counts.tolist() == tally.counts.tolist()
        one, other = (md.estimate(MECHANISMS[name], t) for t in (tally, tallies[name]))
        assert one.values.tobytes() == other.values.tobytes()


# --- Dask -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, protocol="tcp"
        ) as started,
        distributed.Client(started),
    ):
        yield started


class KillsItsWorker:
    """Ends the process of the worker that computes a part, once: a file remembers it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        if len(part) and 1500 in part["id"].to_numpy():
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return part
            os._exit(9)
        return part


def test_dask_sends_what_one_machine_sends_though_a_worker_is_killed(
    cluster: Any, tmp_path: Path
) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    frame = dd.from_pandas(TABLE, npartitions=8)
    reports = md.privatize(frame, MECHANISMS, keep=["id"], key=KEY, ids="id")
    assert type(reports) is type(frame)
    mark = tmp_path / "killed"
    killed = reports.map_partitions(KillsItsWorker(mark), meta=reports._meta)
    assert same_as_on_one_machine(killed.compute())
    assert mark.exists()
    check_estimates(md.tally(reports, MECHANISMS))
    first = frame["x"].partitions[0]
    assert set(md.privatize(first, COIN).compute()) == {"a", "b"}
    assert md.tally(first, COIN).total == N // 8
    check_refused("none for a DataFrame, whose parts", md.privatize, frame, MECHANISMS, rng=1)
    with pytest.raises(InputError, match="expected labels of the domain"):
        md.privatize(frame.assign(x="?"), {"x": COIN}).compute()


def test_without_a_key_a_part_that_is_computed_twice_is_drawn_twice() -> None:
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    reports = md.privatize(dd.from_pandas(TABLE, npartitions=2), {"x": COIN})
    first, second = (reports.compute(scheduler="synchronous")["x"].tolist() for _ in range(2))
    assert first != second


# --- Spark ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.codegen.wholeStage", "false")  # compiling it takes longer than a run
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.task.maxFailures", "4")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark_sends_what_one_machine_sends_though_parts_are_computed_again(spark: Any) -> None:
    frame = spark.createDataFrame(TABLE).repartition(4)
    reports = md.privatize(frame, MECHANISMS, keep=["id"], key=KEY, ids="id")
    assert reports.columns == ["x", "y", "id"]
    for _ in range(2):  # nothing is held: each action computes the parts anew
        assert same_as_on_one_machine(reports.toPandas())
    check_estimates(md.tally(reports, MECHANISMS))
    check_refused("one column 'z', given the columns", md.privatize, frame, {"z": COIN})


def test_spark_refuses_an_id_that_comes_again_in_a_part(spark: Any) -> None:
    """Spark hands a part to Python in batches."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    frame = spark.createDataFrame(TABLE.assign(id=TABLE["id"] % 150)).coalesce(1)
    reports = md.privatize(frame, MECHANISMS, key=KEY, ids="id")
    with pytest.raises(Exception, match=r"row 150 of a part: expected ids that all differ"):
        reports.collect()
