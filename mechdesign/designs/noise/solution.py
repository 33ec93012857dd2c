"""The answer to a problem too large for a matrix: noise, how much it loses, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mechdesign.certify.channel_file import digest
from mechdesign.certify.mechanism_file import FORMAT
from mechdesign.channel import Channel
from mechdesign.designs.binding import BindingRow
from mechdesign.designs.solution import Solution
from mechdesign.mechanisms.noise.lattice_noise import LatticeNoise
from mechdesign.text import html_lines

__all__ = ["NoiseSolution", "design_table"]


@dataclass(frozen=True, repr=False)
class NoiseSolution(Solution):
    """Noise with a remap, exactly private, with a rigorous bound on the loss of every channel.

    It is a :class:`~mechdesign.designs.solution.Solution` but for its channel, which is a
    structured mechanism: it draws reports, and has a row for each input, but no matrix. The saved
    file is one of a mechanism, with the problem, the value and the proof in it.
    """

    channel: LatticeNoise  # type: ignore[assignment]

    @property
    def binding(self) -> tuple[BindingRow, ...]:
        """Nothing: the multipliers of the proof are of another channel."""
        return ()

    def dense(self) -> Channel:
        """Return the matrix, for up to 2048 inputs."""
        return self.channel.dense()

    def document(self) -> dict[str, Any]:
        """Return what a mechanism file holds: the noise, what it is for, the proof."""
        design = design_table(self.problem.to_table(), self.certificate["dual"])
        design |= {"value": float(self.value), "bound": self._float_bound()}
        document = {**FORMAT, **self.channel.to_table(), "design": design}
        document["digest"] = digest(document)
        return document

    def _channel_table(self) -> dict[str, Any]:
        table = self.channel.to_table()
        return {key: table[key] for key in ("mechanism", "domain", "leakage")}

    def _repr_html_(self) -> str:
        return html_lines(self._lines(), "")

    def _table(self) -> str:
        return repr(self.channel)


def design_table(problem: dict[str, Any], dual: dict[str, Any] | None) -> dict[str, Any]:
    """Return the table of a design without what it claims."""
    return {"prior": problem["prior"], "utility": problem["utility"], "dual": dual}
