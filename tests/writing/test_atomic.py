"""A file is written whole or not at all, whatever fails, and a killed process leaves nothing."""

from __future__ import annotations

import ast
import errno
import io
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mechdesign.writing.atomic as at
from mechdesign.errors import InputError
from mechdesign.writing.atomic import (
    HIDDEN_NAMES,
    atomic_file,
    check_different,
    locked,
    write_atomically,
)

OLD, NEW = b"old\n" * 5_000, b"new\n" * 7_000

SYSTEMS = {
    "unnamed": {"UNNAMED": at.UNNAMED, "HAS_LOCKS": at.HAS_LOCKS},
    "hidden": {"UNNAMED": 0, "HAS_LOCKS": at.HAS_LOCKS},
    "hidden without locks": {"UNNAMED": 0, "HAS_LOCKS": False},
}
"""What a system has: files without a name (Linux), locks (all but Windows), neither."""

EVERY_SYSTEM = pytest.mark.parametrize("system", SYSTEMS)
POSIX = pytest.mark.skipif(os.name == "nt", reason="what is tested is of POSIX")


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def choose(system: str) -> None:
        for name, there in SYSTEMS[system].items():
            monkeypatch.setattr(at, name, there)

    return choose


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hidden(target: Path, number: int = 0) -> Path:
    return at._hidden_names(target)[number]


@EVERY_SYSTEM
@pytest.mark.parametrize("there", [True, False])
def test_the_old_file_stays_until_the_new_one_is_whole(
    system: str, there: bool, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on(system)
    target = tmp_path / "out.csv"
    if there:
        target.write_bytes(OLD)
    with atomic_file(target) as stream:
        stream.write(NEW)
        stream.flush()
        assert target.exists() is there
        assert not there or target.read_bytes() == OLD
        visible = set(names(tmp_path)) - {"out.csv"}
        assert visible == (set() if at.UNNAMED else {hidden(target).name})
    assert target.read_bytes() == NEW
    assert names(tmp_path) == ["out.csv"]


@EVERY_SYSTEM
@pytest.mark.parametrize("durable", [True, False])
def test_only_what_is_to_be_on_the_disk_waits_for_it(
    system: str,
    durable: bool,
    tmp_path: Path,
    on: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on(system)
    synced, real = list[int](), os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (synced.append(number), real(number)))
    write_atomically(tmp_path / "out", "a", durable=durable)
    assert (tmp_path / "out").read_text() == "a"
    assert bool(synced) is durable


@POSIX
@EVERY_SYSTEM
def test_rights_are_kept_and_those_of_a_new_file_are_the_usual_ones(
    system: str, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on(system)
    target = tmp_path / "out"
    (tmp_path / "usual").touch()
    write_atomically(target, "a")
    assert target.stat().st_mode == (tmp_path / "usual").stat().st_mode
    target.chmod(0o640)
    write_atomically(target, "b")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@POSIX
@EVERY_SYSTEM
def test_nobody_else_may_read_a_file_before_it_is_whole(
    system: str, tmp_path: Path, on: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    on(system)
    modes = []
    real = os.fdopen

    def seen(descriptor: int, *words: Any, **options: Any) -> Any:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return real(descriptor, *words, **options)

    monkeypatch.setattr(os, "fdopen", seen)
    write_atomically(tmp_path / "out", "a")
    assert modes == [0o600]


@EVERY_SYSTEM
def test_text_that_has_no_bytes_is_refused(
    system: str, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on(system)
    with pytest.raises(InputError, match="text that can be written in UTF-8"):
        write_atomically(tmp_path / "out", "\ud800")
    assert names(tmp_path) == []


# --- what fails ---------------------------------------------------------------------------------

CALLS = ("open", "fdopen", "fsync", "fchmod", "chmod", "link", "replace", "write")
"""The calls of the system on the way to a whole file."""

CLEARING = ("stat", "fstat", "unlink")
"""The calls by which what is left over is found and removed."""

FAULTS: dict[str, Callable[[], BaseException]] = {
    "no space": lambda: OSError(errno.ENOSPC, "No space left on device"),
    "not allowed": lambda: PermissionError(errno.EPERM, "Operation not permitted"),
    "interrupted call": lambda: InterruptedError(errno.EINTR, "Interrupted system call"),
    "Ctrl-C": KeyboardInterrupt,
    "no memory": MemoryError,
}


class Failing:
    """Makes the n-th of certain calls fail, before or (late) after it does its work."""

    def __init__(self, call: str, turn: int, late: bool, fault: str) -> None:
        self.call, self.turn, self.late, self.fault = call, turn, late, FAULTS[fault]
        self.count = 0

    def __call__(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*words: Any, **options: Any) -> Any:
            self.count += 1
            if self.count != self.turn:
                return real(*words, **options)
            if self.late:
                done = real(*words, **options)
                if self.call == "open":
                    os.close(done)  # what the system opened is closed with the process
            raise self.fault()

        return called

    def install(self, patch: pytest.MonkeyPatch) -> None:
        if self.call == "write":
            patch.setattr(os, "fdopen", self.streams)
        else:
            patch.setattr(os, self.call, self(getattr(os, self.call)))

    def streams(self, descriptor: int, mode: str, closefd: bool) -> io.BufferedIOBase:
        fail = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:  # type: ignore[override]
                return int(fail(super().write)(data))

        kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
        return kind(Raw(descriptor, mode.replace("b", ""), closefd=closefd))


@POSIX
@EVERY_SYSTEM
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS + CLEARING)
def test_whatever_fails_there_is_the_old_file_or_the_new_one(
    call: str,
    fault: str,
    late: bool,
    there: bool,
    system: str,
    tmp_path: Path,
    on: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each call fails once, at each of its turns: nothing is torn, and nothing is left over.

    Where it is the clearing itself that fails, the next writer clears.
    """
    if call == "write" and late and fault == "interrupted call":
        pytest.skip("a call that was interrupted has written nothing, and is made again")
    on(system)
    monkeypatch.setattr(os, "fsync", bool)  # which takes long
    turn, reached = 0, True
    while reached:
        turn += 1
        target = tmp_path / f"out-{turn}"
        if there:
            target.write_bytes(OLD)
        failing = Failing(call, turn, late, fault)
        with pytest.MonkeyPatch.context() as patch:
            failing.install(patch)
            try:
                with atomic_file(target) as stream:
                    stream.write(NEW)
            except (InputError, KeyboardInterrupt, MemoryError):
                pass
        reached = failing.count >= turn
        old = target.read_bytes() if target.exists() else None
        assert old in ((OLD if there else None), NEW)
        opened_and_cut_off = call == "open" and late  # between two instructions of Python
        if call in CALLS and not opened_and_cut_off:
            assert set(names(tmp_path)) <= {target.name}
        write_atomically(target, "next")
        assert target.read_text() == "next"
        assert names(tmp_path) == [target.name]
        target.unlink()
        assert turn < 100


@POSIX
@pytest.mark.parametrize("fault", ["no space", "not allowed"])
def test_a_system_that_gives_no_name_to_an_open_file_gets_a_hidden_one(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*words: Any, **options: Any) -> None:
        error = FAULTS[fault]()
        raise error

    monkeypatch.setattr(os, "link", refused)
    target = tmp_path / "out"
    for _ in range(2):
        with atomic_file(target) as stream:
            stream.write(NEW)
        assert target.read_bytes() == NEW
        assert names(tmp_path) == ["out"]


# --- what killed processes leave ----------------------------------------------------------------


@POSIX
@EVERY_SYSTEM
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_same_file(
    system: str, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on(system)
    target, other = tmp_path / "out.csv", tmp_path / "other.csv"
    for number in range(HIDDEN_NAMES):
        hidden(target, number).write_bytes(b"half")
    hidden(other).write_bytes(b"half")
    (tmp_path / ".mechdesign").write_text("of the user")
    write_atomically(target, "new")
    assert names(tmp_path) == sorted([".mechdesign", hidden(other).name, "out.csv"])


@POSIX
@pytest.mark.parametrize("system", ["unnamed", "hidden"])
def test_the_hidden_file_of_a_living_process_stays(
    system: str, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on("hidden")
    target = tmp_path / "out"
    with atomic_file(target) as first:
        first.write(b"first")
        on(system)
        with atomic_file(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
        assert names(tmp_path) == sorted([hidden(target).name, "out"])
    assert target.read_bytes() == b"first"
    assert names(tmp_path) == ["out"]


@POSIX
def test_more_writers_at_once_than_there_are_names_are_refused(
    tmp_path: Path, on: Callable[[str], None]
) -> None:
    on("hidden")
    target = tmp_path / "out"

    def nested(depth: int) -> None:
        with atomic_file(target):
            if depth:
                nested(depth - 1)

    nested(HIDDEN_NAMES - 1)
    with pytest.raises(InputError, match=r"hidden files \.mechdesign-.* beside it"):
        nested(HIDDEN_NAMES)
    assert names(tmp_path) == ["out"]


@POSIX
def test_a_link_in_place_of_a_hidden_file_is_not_followed(tmp_path: Path) -> None:
    target, mine = tmp_path / "out", tmp_path / "mine"
    mine.write_text("mine")
    hidden(target).symlink_to(mine)
    target.write_text("old")
    write_atomically(target, "new")
    assert (target.read_text(), mine.read_text()) == ("new", "mine")


@EVERY_SYSTEM
def test_a_name_may_be_as_long_as_the_system_has_it(
    system: str, tmp_path: Path, on: Callable[[str], None]
) -> None:
    on(system)
    target = tmp_path / ("x" * 255)
    for text in ("a", "b"):
        write_atomically(target, text)
        assert target.read_text() == text


# --- other promises -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["same", "link", "hard link", "none yet"])
def test_one_file_by_two_names_is_not_two_files(kind: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    if kind != "none yet":
        one.write_text("a")
    if kind == "link":
        two.symlink_to(one)
    elif kind == "hard link":
        two.hardlink_to(one)
    else:
        two = tmp_path / "." / "one"
    with pytest.raises(InputError, match="expected another file than the one that is read"):
        check_different(one, two)
    check_different(one, tmp_path / "three")


@POSIX
def test_processes_take_turns_with_a_locked_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at, "PAUSE", 0.0)
    file = tmp_path / "ledger"
    with locked(file):
        assert file.read_bytes() == b""
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with (
            pytest.raises(InputError, match="no other process keeps locked"),
            locked(file),
        ):
            raise AssertionError("two hold one lock")
    with locked(file):
        write_atomically(file, "replaced")
        with locked(file):  # the lock is of what has the name now
            pass
    with pytest.raises(InputError, match="a file that can be written and locked"), locked(tmp_path):
        raise AssertionError("a folder has no lock here")


LIBRARY = Path(__file__).resolve().parents[2] / "mechdesign"

WRITES = re.compile(
    r"(write_text|write_bytes|savefig|to_csv|to_parquet|to_json_file|mkstemp|NamedTemporaryFile"
    r"|fdopen|tofile|savez|imsave|dump)$"
)
"""Functions that write files, if they are given a name."""

ALLOWED = {
    "writing/atomic.py": {"fdopen", "open"},
    "plots/style.py": {"savefig"},  # to the stream of an atomic file
}


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def opens_to_write(node: ast.Call) -> bool:
    """Whether a call of ``open`` has a mode that is not plainly one for reading."""
    modes = [word for word in node.args if isinstance(word, ast.Constant)]
    modes += [word.value for word in node.keywords if word.arg == "mode"]  # type: ignore[misc]
    texts = [str(word.value) for word in modes if isinstance(word, ast.Constant)]
    return any(set(text) & set("wax+") for text in texts if len(text) <= 3)


def test_everything_that_is_written_goes_through_one_function() -> None:
    wrong = []
    for path in sorted(LIBRARY.rglob("*.py")):
        name = path.relative_to(LIBRARY).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            call = called(node)
            writes = WRITES.match(call) or (call == "open" and opens_to_write(node))
            if writes and call not in ALLOWED.get(name, ()):
                wrong.append(f"{name}:{node.lineno} calls {call}")
    assert wrong == []
