"""The answer to a problem too large for a matrix: noise, how much it loses, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mechdesign.channel import Channel
from mechdesign.designs.binding import BindingRow
from mechdesign.designs.solution import Solution
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.documents import FORMAT, VERSION, digest
from mechdesign.kernel.schema import write
from mechdesign.mechanisms.noise.lattice_noise import LatticeNoise
from mechdesign.problem import Problem
from mechdesign.text import Report

__all__ = ["NoiseSolution", "problem_table"]


@dataclass(frozen=True, repr=False)
class NoiseSolution(Solution):
    """Noise with a remap, exactly private, with a rigorous bound on the loss of every channel.

    It is a :class:`~mechdesign.designs.solution.Solution` but for its channel, which is a
    structured mechanism: it draws reports, and has a row for each input, but no matrix. The saved
    file has its law in the place of a matrix.
    """

    channel: LatticeNoise  # type: ignore[assignment]
    certificate: Certificate

    def bounded_by(self, other: Solution) -> NoiseSolution:
        """Return it with the bound of another solution of the problem, if that is larger."""
        if other.certificate is None or other.bound <= self.bound:
            return self
        told = (note for note in other.notes if "outputs allowed" not in note)
        notes = (*self.notes, f"the bound is by {other.route}", *told)
        return replace(
            self,
            bound=other.bound,
            certificate=other.certificate,
            notes=notes,
            seconds=other.seconds,
        )

    @property
    def binding(self) -> tuple[BindingRow, ...]:
        """Nothing: the multipliers of the proof are of another channel."""
        return ()

    @property
    def bound_proved(self) -> bool:
        """Always: the file carries the proof."""
        return True

    def dense(self) -> Channel:
        """Return the matrix, for up to 2048 inputs."""
        return self.channel.dense()

    def document(self) -> dict[str, Any]:
        """Return what the file holds: the answer, the problem, the law, the proof."""
        answer = {key: value for key, value in self._answer().items() if key != "channel"}
        document = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.problem.title,
            "source": self.problem.source,
            **answer,
            "law": self.channel.to_table()["law"],
            "problem": problem_table(self.problem),
            "certificate": write(self.certificate),
        }
        document["digest"] = digest(document)
        return document

    def _channel_table(self) -> dict[str, Any]:
        channel = self.channel
        domain = channel.inputs.to_table()
        return {"mechanism": channel.name, "domain": domain, "leakage": channel.leakage}

    def _report(self) -> Report:
        return Report(self._lines(), tail=repr(self.channel))

    def _report_lines(self) -> list[tuple[str, str]]:
        return []


def problem_table(problem: Problem) -> dict[str, Any]:
    """Return the problem as a file of a law has it: its outputs are the inputs."""
    return {key: value for key, value in problem.to_table().items() if key != "outputs"}
