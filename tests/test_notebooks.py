"""Every notebook runs from top to bottom, and says what its saved file says."""

from __future__ import annotations

import gc
import itertools
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli import explore, main
from mechdesign.files.problems import load_problem_on_labels
from tests.modules_support import check_same

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what Jupyter's own packages say when they are imported
    import nbformat
    from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]

MOST_BYTES = 2_500_000
"""Of all notebooks together."""

ABSOLUTE_PATH = re.compile(
    r"(?<![\w.:/)])/(?:home|root|tmp|usr|opt|work|var|Users|private|mnt)/|[A-Z]:\\|file://"
)
TIMING = re.compile(r"^seconds\b|\b\d+(?:\.\d+)? ?(?:ms|µs)\b", re.MULTILINE)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any) -> str:
    """What a cell printed or showed as text: no complaints, no text in place of a picture."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append(output.text if output.name == "stdout" else "")
        elif "image/png" not in output.get("data", {}):
            texts.append(output.data["text/plain"])
    return "".join(texts)


def pictures(cell: Any) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


def test_a_difference_is_noticed() -> None:
    check_same("loss 2.45101, 3 grades", "loss 2.45100, 3 grades")
    for other in ("loss 2.47, 3 grades", "loss 2.451, 4 grades", "gain 2.451, 3 grades", "loss"):
        with pytest.raises(AssertionError):
            check_same("loss 2.451, 3 grades", other)


def test_there_is_a_course() -> None:
    assert 6 <= len(NOTEBOOKS) <= 12
    assert sum(path.stat().st_size for path in NOTEBOOKS) < MOST_BYTES


def test_the_readme_lists_each_notebook_once_in_order() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[(\w+)\]\(\1\.ipynb\)", text, re.MULTILINE) == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_saved_file_is_executed_in_order_and_without_errors(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds <= {"stream", "display_data", "execute_result"}
    assert all(o.get("name", "stdout") == "stdout" for cell in cells for o in cell.outputs)
    assert sum(map(pictures, cells)) >= 1
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    # it names no machine and no time
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert {tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])} <= {"varies"}
    assert all(set(cell.metadata) <= {"tags", "jupyter"} for cell in notebook.cells)
    sources, outputs = [cell.source for cell in notebook.cells], list(map(printed, cells))
    assert ABSOLUTE_PATH.search("\n".join([*sources, *outputs])) is None
    assert TIMING.search("\n".join(outputs)) is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebook_teaches(path: Path) -> None:
    """It starts with a title of its number, and has as many solutions as exercises."""
    notebook = read(path)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert re.match(rf"# {int(path.stem[:2])}\. \w", texts[0])
    course = "\n".join(texts)
    assert course.count("\n## Exercises\n") == course.count("\n## Solutions\n") == 1
    exercises, solutions = course.split("\n## Exercises\n")[1].split("\n## Solutions\n")
    asked = re.findall(r"^(\d+)\. ", exercises, re.MULTILINE)
    solved = re.findall(r"^<summary><b>(\d+)\.</b> Solution</summary>$", solutions, re.MULTILINE)
    assert len(asked) >= 3
    assert asked == solved == [str(n + 1) for n in range(len(asked))]
    assert "$" in course
    at = next(n for n, cell in enumerate(notebook.cells) if "## Solutions" in cell.source)
    later = [cell for cell in notebook.cells[at:] if cell.cell_type == "code"]
    folded = [cell.metadata.get("jupyter") for cell in later]
    assert folded
    assert all(how == {"source_hidden": True, "outputs_hidden": True} for how in folded)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebook_opens_the_explorer_at_its_subject(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that it names is one that the command line takes, with a problem that exists."""
    opened: list[Any] = []
    (command,) = explore.COMMANDS
    recorded = replace(command, run=lambda options: opened.append(options) or 0)
    monkeypatch.setattr(explore, "COMMANDS", (recorded,))
    named = re.search(
        r"\*\*In the explorer\*\*[^`]*`mechdesign (explore[^`]*)`", read(path).cells[0].source
    )
    assert main(named[1].split()) == 0
    (options,) = opened
    if options.file is not None:
        assert load_problem_on_labels(FOLDER / options.file).title


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_prints_its_saved_output(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("STATIC_PICTURES", "1")  # of sliders, as they are saved
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures go into the notebook
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no user's settings
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    saved = read(path)
    fresh = read(path)
    for cell in code_cells(fresh):
        cell.outputs, cell.execution_count = [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Jupyter's own
        client = NotebookClient(
            fresh,
            timeout=240,
            kernel_name="python3",
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": str(FOLDER)}},
        )
        client.execute()
        del client
        gc.collect()  # sockets that are closed late would warn in some other test
    for new, old in itertools.zip_longest(code_cells(fresh), code_cells(saved)):
        assert pictures(new) == pictures(old)
        if "varies" not in old.metadata.get("tags", []):
            check_same(printed(new), printed(old), rel=2e-3, near=2e-4)
