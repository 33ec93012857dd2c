"""A problem file reads data below its own folder, the data folder, and folders that are allowed."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from mechdesign import InputError, Prior, load_problem
from mechdesign.files import data_folder
from mechdesign.files.problems import load_setting
from mechdesign.files.reading import reading_from
from tests.cli_support import Run
from tests.refusals_support import check_refused

PROBLEM = """
[domain]
values = {values}
[prior]
data = {{ file = '{name}', column = "answer"{more} }}
[privacy]
notion = "ldp"
epsilon = 1
[utility]
objective = "hamming"
"""
LINKS = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a problem's folder, a data folder, and one that is neither, with links."""
    for name in ("own/below", "data", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.csv").write_text("answer\nyes\nno\nno\n", encoding="utf-8")
    links = {"out.csv": "../other/x.csv", "folder": "../other", "in.csv": "below/x.csv"}
    for name, target in (links | {"circle.csv": "circle.csv"}).items() if os.name != "nt" else ():
        (tmp_path / "own" / name).symlink_to(target)
    monkeypatch.setenv("MECHDESIGN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problem(home: Path, name: str, values: str = '["yes", "no"]', more: str = "") -> Path:
    file = home / "own" / "p.toml"
    file.write_text(PROBLEM.format(name=name, values=values, more=more), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "name",
    [
        *("below/x.csv", "below/../below/x.csv", "../own/below/x.csv", "x.csv", "../data/x.csv"),
        *("{home}/own/below/x.csv", "{home}/data/x.csv", pytest.param("in.csv", marks=LINKS)),
    ],
)
def test_files_below_the_two_folders_are_read(name: str, home: Path) -> None:
    """By relative paths and absolute ones."""
    found = load_problem(problem(home, name.format(home=home.resolve()))).prior
    assert found == Prior(["1/3", "2/3"])


BELOW = r"p\.toml: prior\.data\.file: expected a file below the folder of the problem"
BESIDE = r"prior\.data\.file: expected a file beside the problem .*given "


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((f"{folder}other/x.csv", BELOW) for folder in ("../", "below/../../")),
        ("../other/nowhere.csv", BELOW),  # whether it is there is not told
        *(
            (name, BELOW)
            for name in ("/proc/self/environ", "/dev/zero", "/etc/passwd", "../p.toml")
        ),
        ("~/x.csv", BESIDE),  # a home folder is not looked up
        # links are followed before the folder is looked at
        *(pytest.param(n, BESIDE, marks=LINKS) for n in ("out.csv", "folder/x.csv", "circle.csv")),
    ],
)
def test_other_files_are_refused_whether_they_exist_or_not(
    name: str, message: str, home: Path
) -> None:
    with pytest.raises(InputError, match=message + re.escape(name) * (message == BESIDE)):
        load_problem(problem(home, name))


@LINKS
def test_a_problem_behind_a_link_reads_where_it_is_named(home: Path) -> None:
    problem(home, "below/x.csv")
    (home / "other" / "p.toml").symlink_to("../own/p.toml")
    check_refused("a file beside the problem", lambda: load_problem(home / "other" / "p.toml"))


def test_the_folder_of_the_problem_comes_before_the_data_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working directory is none of the two, nor is one that lies beside it."""
    Path("x.csv").write_text("answer\nyes\n", encoding="utf-8")
    (home / "own" / "x.csv").write_text("answer\nno\n", encoding="utf-8")
    assert load_problem(problem(home, "x.csv")).prior == Prior([0, 1])
    Path("own/x.csv").unlink()
    assert load_problem(problem(home, "x.csv")).prior == Prior(["1/3", "2/3"])
    Path("data/x.csv").unlink()
    check_refused(f"{BESIDE}x.csv", lambda: load_problem(problem(home, "x.csv")))
    monkeypatch.delenv("MECHDESIGN_DATA")
    with pytest.raises(InputError, match="set MECHDESIGN_DATA to the folder of data"):
        load_problem(problem(home, "x.csv"))
    Path("shared/data").mkdir(parents=True)
    monkeypatch.chdir("own")
    assert data_folder() is None


def test_a_named_folder_holds_inside_its_block(home: Path) -> None:
    Path("other/x.csv").write_text("answer\nno\n", encoding="utf-8")
    with reading_from(str(home / "other")):
        assert data_folder() == home / "other"
        assert load_problem(problem(home, "x.csv")).prior == Prior([0, 1])
    assert data_folder() == home / "data"
    with pytest.raises(InputError, match="data: expected a folder"), reading_from("nowhere"):
        pass


def test_more_folders_are_allowed_by_the_reader(home: Path) -> None:
    file = problem(home, "../other/x.csv")
    assert load_problem(file, allow_paths=[home / "other"]).prior_given
    assert load_setting(file, allow_paths=[str(home / "other")]).prior is not None
    for wrong in ([home / "nowhere"], str(home / "other")):
        check_refused("allow_paths: expected a", load_problem, file, allow_paths=wrong)


def test_more_folders_are_allowed_from_the_command_line(
    home: Path, printed: Run, refused: Run
) -> None:
    words = ["solve", str(problem(home, "../other/x.csv"))]
    assert "--allow-path FOLDER" in refused(*words)
    assert printed(*words, "--allow-path", str(home / "data"), "--allow-path", str(home))
    line = refused(*words, "--allow-path", str(home / "nowhere"))
    assert line.startswith("--allow-path: expected a folder")


LETTERS = '["a", "b", "c"]'
RECORDS = "id,answer\n1,a\n2,b\n3,a\n4,a\n"


@pytest.mark.parametrize(
    ("content", "more", "counts"),
    [
        (gzip.compress(RECORDS.encode(), mtime=0), "", [3, 1, 0]),
        (RECORDS.replace(",", ";").encode(), ', separator = ";"', [3, 1, 0]),
        (RECORDS.replace(",", "\t").encode(), ', separator = "\\t"', [3, 1, 0]),
        (RECORDS.replace(",", " ").encode(), ', separator = " "', [3, 1, 0]),
        (b"\xef\xbb\xbfanswer,id\r\na,1\r\nb,2\r\n", "", [1, 1, 0]),
        (b'answer,id\n"a", 1\n b ,"2,3"\n', "", [1, 1, 0]),
        (RECORDS.encode(), ", smoothing = 1", [4, 2, 1]),
        (RECORDS.encode(), ", smoothing = 0.5", [7, 3, 1]),
        (b"answer\n10\n0\n10\n2.5\n", "", [1, 1, 2]),
    ],
)
def test_a_table_of_records_may_be_written_in_many_ways(
    content: bytes, more: str, counts: list[int], home: Path
) -> None:
    """Compressed, with any separator, a byte-order mark, quotes, spaces or numbers; smoothed."""
    name = "y.csv.gz" if content.startswith(b"\x1f") else "y.csv"
    Path(f"own/{name}").write_bytes(content)
    values = "[0, 2.5, 10]" if b"10" in content else LETTERS
    assert load_problem(problem(home, name, values, more)).prior == Prior.from_counts(counts)
