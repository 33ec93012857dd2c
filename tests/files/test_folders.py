"""A problem file reads data below its own folder, the data folder, and folders that are allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mechdesign import InputError, load_problem
from mechdesign.cli import main
from mechdesign.files.problems import load_setting

PROBLEM = """
[domain]
values = ["yes", "no"]
[prior]
data = {{ file = '{name}', column = "answer" }}
[privacy]
notion = "ldp"
epsilon = 1
[utility]
objective = "hamming"
"""
RECORDS = "answer\nyes\nno\nno\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a problem's folder, a data folder, and one that is neither."""
    for name in ("own/below", "data", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.csv").write_text(RECORDS, encoding="utf-8")
    monkeypatch.setenv("MECHDESIGN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    return tmp_path


def problem(home: Path, name: str) -> Path:
    file = home / "own" / "p.toml"
    file.write_text(PROBLEM.format(name=name), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "name", ["below/x.csv", "below/../below/x.csv", "../own/below/x.csv", "x.csv", "../data/x.csv"]
)
def test_files_below_the_two_folders_are_read(name: str, home: Path) -> None:
    assert load_problem(problem(home, name)).prior.probabilities[1] * 3 == 2


@pytest.mark.parametrize("name", ["below/x.csv", "../data/x.csv"])
def test_an_absolute_path_is_read_where_a_relative_one_is(name: str, home: Path) -> None:
    load_problem(problem(home, str((home / "own" / name).resolve())))


OUTSIDE = [
    "../other/x.csv",
    "below/../../other/x.csv",
    "../other/nowhere.csv",  # whether it is there is not told
    "/proc/self/environ",
    "/dev/zero",
    "/etc/passwd",
    "../p.toml",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_other_files_are_refused_whether_they_exist_or_not(name: str, home: Path) -> None:
    with pytest.raises(InputError, match="expected a file below the folder of the problem"):
        load_problem(problem(home, name))


def test_a_home_folder_is_not_looked_up(home: Path) -> None:
    with pytest.raises(InputError, match=r"given ~/x\.csv"):
        load_problem(problem(home, "~/x.csv"))


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_are_followed_before_the_folder_is_looked_at(home: Path) -> None:
    (home / "own" / "out.csv").symlink_to("../other/x.csv")
    (home / "own" / "folder").symlink_to("../other")
    (home / "own" / "in.csv").symlink_to("below/x.csv")
    (home / "own" / "circle.csv").symlink_to("circle.csv")
    load_problem(problem(home, "in.csv"))
    for name in ("out.csv", "folder/x.csv"):
        with pytest.raises(InputError, match=r"p\.toml: prior\.data\.file: expected a file"):
            load_problem(problem(home, name))
    with pytest.raises(InputError, match=r"given circle\.csv"):
        load_problem(problem(home, "circle.csv"))


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_problem_behind_a_link_reads_where_it_is_named(home: Path) -> None:
    problem(home, "below/x.csv")
    (home / "other" / "p.toml").symlink_to("../own/p.toml")
    with pytest.raises(InputError, match="a file beside the problem"):
        load_problem(home / "other" / "p.toml")


def test_more_folders_are_allowed_by_the_reader(home: Path) -> None:
    file = problem(home, "../other/x.csv")
    assert load_problem(file, allow_paths=[home / "other"]).prior_given
    assert load_setting(file, allow_paths=[str(home / "other")]).prior is not None
    with pytest.raises(InputError):
        load_problem(file)
    for wrong in ([home / "nowhere"], str(home / "other")):
        with pytest.raises(InputError, match="allow_paths: expected a"):
            load_problem(file, allow_paths=wrong)


def test_more_folders_are_allowed_from_the_command_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["solve", str(problem(home, "../other/x.csv"))]
    assert main(words) == 2
    assert "--allow-path FOLDER" in capsys.readouterr().err
    assert main([*words, "--allow-path", str(home / "data"), "--allow-path", str(home)]) == 0
    assert main([*words, "--allow-path", str(home / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("--allow-path: expected a folder")
