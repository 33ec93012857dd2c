"""A target appears when it is complete: if the run ends earlier, the old file stays."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mechdesign.collection.ledger import read_ledger
from mechdesign.errors import InputError
from mechdesign.files import load_channel, save
from mechdesign.writing.atomic import PREFIX
from tests.records_support import identity, load, privatize_file, save as save_table

OLD = "what was there before\n"

PROBLEM = """\
[domain]
values = ["x", "y"]
[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""


MOST_SECONDS = 120
"""Timeout after which a process is killed, so that tests terminate."""

INTERRUPTIBLE = """\
import os, signal, sys
for name in ("SIGINT", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Runs Python so that signals end it, even where the tests ignore them (``nohup ... &``)."""


@contextlib.contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Start Python in a folder, and kill it when the block ends or takes too long."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    watch = threading.Timer(MOST_SECONDS, process.kill)
    watch.start()
    try:
        yield process
    finally:
        watch.cancel()
        process.kill()
        process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(identity(["x", "y"]), tmp_path / "channel.json")
    for ending in ("csv", "csv.gz", "parquet"):
        (tmp_path / f"out.{ending}").write_text(OLD, encoding="utf-8")
    (tmp_path / "work").mkdir()
    return tmp_path


HALF_WAY = """\
import sys, threading
from mechdesign.cli import common, main, records
from mechdesign.collection.records import privatize

class Stopped(common.FileBar):
    def __call__(self, rows, share):
        print(rows, flush=True)
        threading.Event().wait()  # until this process is ended from outside

records.FileBar = Stopped
privatize.chunk_size = lambda *words: 10_000
sys.exit(main(["privatize", "channel.json", "in.csv", sys.argv[1], "--column", "a", "--force"]))
"""
"""Writes one chunk of many, prints a line, and waits."""


@pytest.fixture
def half_way(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process that is half-way through writing a file, and wait until it is."""
    rows = "".join(f"{'xy'[n % 2]}\n" for n in range(30_000))
    (folder / "in.csv").write_text(f"a\n{rows}", encoding="utf-8")
    with contextlib.ExitStack() as stack:

        def start(target: str) -> subprocess.Popen[str]:
            process = stack.enter_context(started(folder, "-c", HALF_WAY, target))
            assert process.stdout.readline() == "10000\n"
            return process

        yield start


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize(("ending", "there"), [("csv", False), ("parquet", True)])
def test_a_killed_process_leaves_no_part_under_the_name(
    ending: str, there: bool, folder: Path, half_way: Callable[[str], subprocess.Popen[str]]
) -> None:
    target = folder / f"out.{ending}"
    if not there:
        target.unlink()
    process = half_way(target.name)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert target.exists() is there
    if there:
        assert target.read_text(encoding="utf-8") == OLD
    privatize_file(identity(["x", "y"]), folder / "in.csv", target, "a")
    assert load(target) == {"a": ["x", "y"] * 15_000}


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_command_that_is_ended_clears_what_it_wrote(
    name: str,
    status: int,
    folder: Path,
    half_way: Callable[..., subprocess.Popen[str]],
) -> None:
    before = sorted(file.name for file in folder.iterdir())
    process = half_way("out.csv")
    assert len(list(folder.iterdir())) == len(before) + 1
    process.send_signal(getattr(signal, name))
    output, error = process.communicate()
    assert process.returncode == status
    assert output == ""
    assert error == ("interrupted\n" if name == "SIGINT" else "")
    assert sorted(file.name for file in folder.iterdir()) == before
    assert (folder / "out.csv").read_text(encoding="utf-8") == OLD


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_exception_leaves_the_old_file_and_nothing_else(
    ending: str, error: type[BaseException], folder: Path
) -> None:
    source, target = save_table(folder / "in.csv", {"a": list("xyxy")}), folder / f"out.{ending}"
    before = {file.name for file in folder.iterdir()}

    def fail(rows: int, share: float | None) -> None:
        raise error

    with pytest.raises(error):
        privatize_file(identity(["x", "y"]), source, target, "a", chunk=1, progress=fail)
    assert {file.name for file in folder.iterdir()} == before
    assert target.read_text(encoding="utf-8") == OLD


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_an_error_of_the_target(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = save_table(folder / "in.csv", {"a": ["x", "y"] * 5})
    before = {file.name for file in folder.iterdir()}
    real = tempfile.NamedTemporaryFile

    def full(**options: Any) -> Any:
        made = real(**options)
        made.file = Path("/dev/full").open("wb")  # noqa: SIM115  closed as the temporary file is
        return made

    for ending in ("csv", "csv.gz", "parquet"):
        monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
        with pytest.raises(InputError, match="cannot write the file: No space left"):
            privatize_file(identity(["x", "y"]), source, folder / f"out.{ending}", "a")
        monkeypatch.undo()
        assert {file.name for file in folder.iterdir()} == before
        assert (folder / f"out.{ending}").read_text(encoding="utf-8") == OLD


KILLED = """\
import contextlib, io, json, math, os, signal, sys

from mechdesign.cli import main

def count(words, last):
    '''Run a command in a child that kills itself at the last of so many calls of functions.'''
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        calls = 0

        def profile(frame, event, argument):
            nonlocal calls
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(profile)
        status = main(words)
        sys.setprofile(None)
        os.write(writer, json.dumps([status, calls]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        told = stream.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else None

moments, words = json.loads(sys.argv[1]), sys.argv[2:]
with contextlib.redirect_stdout(io.StringIO()):
    main(words)  # so that the children import nothing
calls = math.inf
for moment in moments:
    print("ready", flush=True)
    sys.stdin.readline()  # the test has looked at what is there
    told = count(words, moment and max(1, round(moment * calls)))
    calls = min(calls, told[1]) if told else calls
    print(json.dumps(told), flush=True)
"""
"""Runs a command repeatedly and kills it after a number of function calls, including system calls,
independent of the clock."""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no fork")
@pytest.mark.parametrize("command", ["privatize", "solve"])
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
def test_forty_kills_leave_nothing_torn(command: str, there: bool, folder: Path) -> None:
    """After each kill there is the old file or a complete new one, and the ledger has every draw.

    A killed run leaves at most its temporary file, the journal of the ledger, and, if there was no
    file, an empty file that claims the name.
    """
    (folder / "problem.toml").write_text(PROBLEM, encoding="utf-8")
    (folder / "in.csv").write_text("a\n" + "x\ny\n" * 100, encoding="utf-8")
    if command == "privatize":
        target, ledger = folder / "new.csv", folder / "ledger"
        words = ["privatize", "channel.json", "in.csv", "new.csv", "--column=a", "--ledger=ledger"]
        words += ["--force"] if there else []
    else:
        target, ledger = folder / "new.json", folder / "none"
        words = ["solve", "problem.toml", "-o", "new.json"]
    chance = random.Random(f"{command} {there}")
    moments = [chance.random() for _ in range(4)]  # anywhere
    moments += [1 - 0.15 * chance.random() ** 4 for _ in range(6)]  # where files get names
    every = [0, 0, 0, *moments, 0]  # of a few calls more or less the fewest count
    names = {path.name for path in folder.iterdir()} | {target.name}
    seen, killed = {"old": 0, "new": 0}, 0
    with started(folder, "-c", KILLED, json.dumps(every), *words) as process:
        for moment in every:
            assert process.stdout.readline() == "ready\n"
            ledger.unlink(missing_ok=True)
            if there:
                target.write_text(OLD, encoding="utf-8")
            else:
                target.unlink(missing_ok=True)
            process.stdin.write("\n")
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
            assert (told or [0])[0] == 0
            assert told is not None or moment
            killed += told is None  # else the calls are fewer than they were
            old = OLD.encode() if there else None
            is_new = (target.read_bytes() if target.exists() else None) not in (old, b"")
            seen["new" if is_new else "old"] += moment > 0
            left = {path.name for path in folder.iterdir()} - names - {ledger.name}
            if told is not None:
                assert is_new
                assert left == set()
            for name in left:
                assert name.startswith(PREFIX) or name == f"{ledger.name}-journal"
                (folder / name).unlink()
            if is_new:
                check_whole(command, target)
                assert command == "solve" or len(read_ledger(ledger).draws) == 1
    assert min(seen.values()) > 0  # kills before the file got its name, and after
    assert killed >= 0.8 * len(moments)


def check_whole(command: str, path: Path) -> None:
    if command == "privatize":
        assert len(load(path)["a"]) == 200
    else:
        load_channel(path)


AT_ONCE = """\
import os, sys
import mechdesign.collection.records
from mechdesign.cli import main
start, go = os.pipe()
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(start, 1)  # until all are there
        sys.stderr = open(f"error-{number}", "w")
        status = main(sys.argv[1:])
        sys.stderr.close()
        os._exit(status)
    children.append(child)
os.close(go)
print(*sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no fork")
def test_of_four_runs_at_once_three_are_refused(folder: Path) -> None:
    rows = "".join(f"{'xy'[n % 2]}\n" for n in range(20_000))
    (folder / "in.csv").write_text(f"a\n{rows}", encoding="utf-8")
    words = ["privatize", "channel.json", "in.csv", "new.csv", "--column=a", "--ledger=ledger"]
    with started(folder, "-c", AT_ONCE, *words) as runs:
        output, _ = runs.communicate()
    assert output.splitlines()[-1] == "0 2 2 2"
    errors = [(folder / f"error-{n}").read_text() for n in range(4)]
    assert [error.count("the file exists") for error in sorted(errors)] == [0, 1, 1, 1]
    assert len(load(folder / "new.csv")["a"]) == 20_000
    assert len(read_ledger(folder / "ledger").draws) == 1
