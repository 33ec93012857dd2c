"""Files are written atomically, whichever step fails."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mechdesign.writing.atomic as at
from mechdesign.errors import InputError
from mechdesign.writing.atomic import atomic_file, check_different, write_atomically
from tests.refusals_support import check_refused

OLD, NEW = b"old\n" * 5_000, b"new\n" * 7_000

POSIX = pytest.mark.skipif(os.name == "nt", reason="what is tested is of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("there", [True, False])
def test_the_old_file_stays_until_the_new_one_is_whole(there: bool, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    if there:
        target.write_bytes(OLD)
    with atomic_file(target) as stream:
        stream.write(NEW)
        stream.flush()
        assert target.exists() is there
        assert not there or target.read_bytes() == OLD
        (temporary,) = set(names(tmp_path)) - {"out.csv"}
        assert temporary.startswith(at.PREFIX)
    assert target.read_bytes() == NEW
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("durable", [True, False])
def test_only_durable_files_wait_for_the_disk(
    durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, real = list[int](), os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (synced.append(number), real(number)))
    write_atomically(tmp_path / "out", "a", durable=durable)
    assert (tmp_path / "out").read_text() == "a"
    assert bool(synced) is durable


def test_the_umask_is_not_set_for_other_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("it is of the whole process"))
    write_atomically(tmp_path / "out", "a")
    assert names(tmp_path) == ["out"]


@POSIX
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_rights_are_kept_and_those_of_a_new_file_are_the_usual_ones(
    umask: int, mode: int, tmp_path: Path
) -> None:
    target, before = tmp_path / "out", os.umask(umask)
    try:
        write_atomically(target, "a")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == mode
    target.chmod(0o640)
    write_atomically(target, "b")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@POSIX
def test_a_link_is_written_through_and_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    for text in ("a", "b"):
        write_atomically(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_text() == text
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: this is not a regular file"):
        write_atomically(tmp_path / "pipe", "a")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["link", "pipe", "target"]


@POSIX
def test_only_the_owner_may_read_a_file_before_it_is_whole(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "out"):
        (temporary,) = tmp_path.iterdir()
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def test_text_that_has_no_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be encoded in UTF-8"):
        write_atomically(tmp_path / "out", "\ud800")
    assert names(tmp_path) == []


# --- what fails ---------------------------------------------------------------------------------

CALLS = ("open", "fsync", "chmod", "replace", "write")
"""The calls of the system on the way to a whole file."""

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
            patch.setattr(tempfile, "NamedTemporaryFile", self.temporary)
        else:
            patch.setattr(os, self.call, self(getattr(os, self.call)))

    def temporary(self, **options: Any) -> Any:
        fail, made = self, NAMED(**options)

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                return int(fail(super().write)(data))

        made.file = io.BufferedWriter(Raw(os.dup(made.fileno()), "w"))
        return made


NAMED = tempfile.NamedTemporaryFile


@POSIX
@pytest.mark.parametrize("how", ["replaced", "new", "claimed"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("call", "late"),
    [(call, late) for call in CALLS for late in (False, True) if not (late and call == "open")],
)
def test_after_any_failure_there_is_the_old_file_or_the_new_one(
    call: str, fault: str, late: bool, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every occurrence of every call fails once: no file is torn or left over."""
    if call == "write" and late and fault == "interrupted call":
        pytest.skip("a call that was interrupted has written nothing, and is made again")
    monkeypatch.setattr(os, "fsync", bool)  # which takes long
    turn, reached = 0, True
    while reached:
        turn += 1
        target = tmp_path / f"out-{turn}"
        if how == "replaced":
            target.write_bytes(OLD)
        failing = Failing(call, turn, late, fault)
        with pytest.MonkeyPatch.context() as patch:
            failing.install(patch)
            with (
                contextlib.suppress(InputError, KeyboardInterrupt, MemoryError),
                atomic_file(target, force=how != "claimed") as stream,
            ):
                stream.write(NEW)
        reached = failing.count >= turn
        old = target.read_bytes() if target.exists() else None
        assert old in ((OLD if how == "replaced" else None), NEW)
        assert set(names(tmp_path)) <= {target.name}
        write_atomically(target, "next")
        assert target.read_text() == "next"
        target.unlink()
        assert turn < 100


# --- writers at once ----------------------------------------------------------------------------


def test_of_several_writers_without_force_one_starts(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_file(target, force=False) as first:
        for _ in range(3):
            with (
                pytest.raises(InputError, match="the file exists"),
                atomic_file(target, force=False),
            ):
                raise AssertionError("two writers claim one name")
        first.write(NEW)
        assert target.read_bytes() == b""
    assert target.read_bytes() == NEW
    assert names(tmp_path) == ["out"]


def test_a_claim_goes_with_the_block_that_raises(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "out", force=False):
        raise ZeroDivisionError
    assert names(tmp_path) == []


def test_what_a_forced_writer_put_in_place_of_a_claim_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with contextlib.ExitStack() as block:
        block.enter_context(atomic_file(target, force=False)).write(b"claimed")
        write_atomically(target, "forced")
        check_refused("the file exists", block.close)
    assert target.read_text() == "forced"
    assert names(tmp_path) == ["out"]


def test_of_writers_at_once_with_force_the_last_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_file(target) as first:
        first.write(b"first")
        write_atomically(target, "second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert names(tmp_path) == ["out"]


def test_a_name_may_be_as_long_as_the_system_has_it(tmp_path: Path) -> None:
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
    check_refused("this file is also read", check_different, one, two)
    check_different(one, tmp_path / "three")
