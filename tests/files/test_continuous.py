"""Problem files with an interval, and files of what was designed for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import mechdesign as md
from tests.refusals_support import check_refused

HEAD = """
[domain]
interval = [0, 1]
[privacy]
notion = "lip"
epsilon = 1
[utility]
objective = "mean-absolute-error"
[prior]
"""

LAWS = {
    "law = { name = 'beta', parameters = [2, 5] }": md.NamedLaw("beta", [2, 5]),
    "mixture = { weights = [0.5, 0.5], means = [0.2, 0.7], deviations = [0.1, 0.2] }": (
        md.GaussianMixture([0.5, 0.5], [0.2, 0.7], [0.1, 0.2])
    ),
    "histogram = { edges = [0, 0.5, 1], masses = [0.3, 0.7] }": (
        md.Histogram([0, 0.5, 1], [0.3, 0.7])
    ),
    "samples = [0.1, 0.2, 0.2]": md.Samples([0.1, 0.2, 0.2]),
    "samples = { file = 'ages.csv', column = 'age' }": md.Samples([0.25, 0.5]),
    "kde = { file = 'ages.csv', column = 'age', bandwidth = 0.1 }": md.KDE([0.25, 0.5], 0.1),
    "uniform = true": md.Histogram([0, 1], [1]),
}


def written(folder: Path, text: str) -> Path:
    (folder / "ages.csv").write_text("name,age\na,0.25\nb,0.5\n", encoding="utf-8")
    path = folder / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("line", LAWS)
def test_laws_are_read(tmp_path: Path, line: str) -> None:
    notion = HEAD if "uniform" not in line else HEAD.replace("lip", "ldp")
    problem = md.load_problem(written(tmp_path, notion + line))
    assert isinstance(problem, md.ContinuousProblem)
    assert problem.domain == md.Interval(0, 1)
    assert problem.prior.to_table() == LAWS[line].to_table()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("[0, 1]", "[1, 1]") + "uniform = true", "domain.interval: expected low"),
        (HEAD.replace("[0, 1]", "7") + "uniform = true", r"domain.interval: expected an interval"),
        (HEAD + "uniform = false", "prior.uniform: expected true"),
        (HEAD + "law = 'normal'", "prior.law: expected a table { name, parameters }"),
        (HEAD + "law = { name = 'normal' }", "prior.law.parameters: this key is required"),
        (HEAD + "samples = [2]", "samples: expected numbers in"),
        (HEAD + "samples = 'ages.csv'", "prior.samples: expected a list of numbers, or a table"),
        (HEAD + "samples = { file = 'ages.csv', column = 'name' }", "record 1 of ages.csv: exp"),
        (HEAD + "samples = { file = 7, column = 'name' }", "prior.samples.file: expected text"),
        (HEAD + "kde = 3", "prior.kde: expected a table"),
        (HEAD + "probabilities = [1]", "prior.probabilities: expected one of the keys samples"),
        (
            HEAD.replace("lip", "high-low") + "uniform = true",
            "privacy.sensitive: this key is required",
        ),
        (HEAD + "uniform = true\n[outputs]\nvalues = [1]", "outputs: expected one of the keys"),
    ],
)
def test_wrong_input_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    caught = check_refused(message, lambda: md.load_problem(written(tmp_path, text)))
    assert "problem.toml" in str(caught)


def test_a_design_is_saved_and_read_back(tmp_path: Path) -> None:
    normal, loss = md.NamedLaw("normal", [0, 1]), md.MeanAbsoluteError()
    problem = md.ContinuousProblem(["-inf", "inf"], md.LIP(1), loss, prior=normal)
    solution, path = md.design(problem, gap=0.5), tmp_path / "channel.json"
    md.save(solution, path)
    saved = md.load_mechanism(path)
    assert isinstance(saved.mechanism, type(solution.channel))
    assert saved.mechanism.nodes == solution.channel.nodes
    assert saved.mechanism.points == solution.channel.points
    assert saved.verified.value == solution.value
    with pytest.raises(md.CertificateError, match="use load_mechanism"):
        md.load_channel(path)
