"""A folder of finished certificates, from which an interrupted sweep resumes."""

from __future__ import annotations

import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path

from mechdesign.designs.solution import EARLY, PrivacyClaim, Solution
from mechdesign.errors import CertificateError, InputError, shown
from mechdesign.files import SavedMechanism, load_channel
from mechdesign.kernel import canonical
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.schema import read
from mechdesign.problem import Problem
from mechdesign.search import RejectedRoute
from mechdesign.writing.atomic import write_atomically

Cache = str | os.PathLike[str]
"""The name of a folder of certificates."""


class Finished:
    """Certificates in a folder, in files named after the digest of the request.

    A request is the saved form of a problem, a route and a gap. A file is verified like any other
    file, and its problem must be the requested one, whatever its name. If a file fails, the problem
    is designed again, and the file replaced. Each file is written atomically. The last of two
    writers wins, since both have an answer to the same request. After a power failure a file may be
    incomplete and then fails the check. A link is replaced rather than followed, so that another
    user of the folder cannot redirect a write.

    Parameters
    ----------
    folder
        Created if it does not exist.
    route, gap
        As for :func:`~mechdesign.design`.

    Raises
    ------
    InputError
        If it is not a writable folder.
    """

    def __init__(self, folder: Cache, route: str, gap: float | None) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise InputError("cache", "the name of a folder", shown(folder))
        self._folder, self._asked = Path(folder), [route, gap]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            given = getattr(error, "strerror", None) or error
            raise InputError("cache", "a folder that can be written", given) from None
        if not os.access(self._folder, os.W_OK | os.X_OK):
            fault = "the folder is read-only"
            raise InputError("cache", "a writable folder", "another", fault=fault)

    def path(self, problem: Problem) -> Path:
        """Return the file of a problem, in one of 256 folders."""
        name = hashlib.sha256(canonical([problem.to_table(), *self._asked])).hexdigest()
        return self._folder / name[:2] / f"{name}.json.gz"

    def find(self, problem: object) -> Solution | None:
        """Return the solution in the file of a problem; None if there is no valid file."""
        if not isinstance(problem, Problem):  # the design raises the error
            return None
        path = self.path(problem)
        if not path.exists():
            return None
        try:
            saved = load_channel(path)
        except (CertificateError, InputError):
            return None
        document, verified = saved.document, saved.verified
        if verified.value is None or verified.bound is None or document["certificate"] is None:
            return None
        if canonical(document["problem"]) != canonical(problem.to_table()):
            return None
        certificate = read(Certificate, document["certificate"])
        return Solution(
            problem=problem,
            channel=saved.channel,
            value=verified.value,
            bound=verified.bound,
            privacy=tuple(
                PrivacyClaim(notion, claim["leakage"])
                for notion, claim in zip(problem.privacy, document["privacy"], strict=True)
            ),
            route=document["route"],
            why=document["why"],
            considered=tuple(RejectedRoute(**each) for each in document["considered"]),
            notes=tuple(document["notes"]),
            certificate=certificate,
            readings=_readings(saved),
            seconds=document["seconds"],
            timings=document["timings"],
        )

    def keep(self, solution: Solution) -> None:
        """Write a solution to its file, if its search finished and its bound is proved.

        Only channels that are a matrix are kept.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        ended = any(note.startswith(EARLY) for note in solution.notes)
        if not solution.has_matrix or ended or not solution.bound_proved:
            return
        path = self.path(solution.problem)
        try:
            path.parent.mkdir(exist_ok=True)
            if path.is_symlink():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError("cache", "a folder that can be written", error.strerror) from None
        write_atomically(path, json.dumps(solution.document()), durable=False)


def _readings(saved: SavedMechanism) -> tuple[Fraction, ...] | None:
    """Return the readings of the outputs in the file, if there are any."""
    readings = saved.document["channel"].get("readings")
    if readings is None:
        return None
    whole = int(readings["denominator"])
    return tuple(Fraction(int(top), whole) for top in readings["numerators"])
