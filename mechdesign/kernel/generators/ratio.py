"""Bounds on the ratio of two entries of a column: q_x <= s_xz e**a_xz q_z.

The exponents a_xz are a constant (for every protected x, against every z of its block), a constant
times a distance of points, or a matrix in which ``inf`` means unbounded. The scale s_xz is 1, or
P_z / P_x for a prior P (differential identifiability).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from operator import mul

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import known, need, over_one_denominator
from mechdesign.kernel.generators.base import Generator, Key, ListedRow, Test
from mechdesign.kernel.generators.exponents import Constant, Distance, Matrix

ONE = Fraction(1)


@dataclass(frozen=True)
class Ratio(Generator):
    """q_x <= s_xz e**a_xz q_z. Keys are ``("", x, z)``."""

    exponents: Constant | Matrix | Distance
    prior: tuple[Fraction, ...] | None = None

    def scale(self, x: int, z: int) -> Fraction:
        """Return s_xz."""
        return ONE if self.prior is None else self.prior[z] / self.prior[x]

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        """Return q_x <= e**a s q_z."""
        side, x, z = key
        need(not side and x < k and z < k, "a ratio has rows of two inputs")
        words = f"no ratio of the inputs {x} and {z} is bounded"
        a = known(self.exponents.at(x, z, up=up), words)
        return ListedRow(((x, ONE),), a, ((z, self.scale(x, z)),))

    def keys(self, k: int) -> Iterable[Key]:
        """Return every bounded pair."""
        for x in range(k):
            for z in range(k):
                if self.exponents.at(x, z, up=True) is not None:
                    yield "", x, z

    def test(self, k: int) -> Test:
        """Return the test: for each group all q_x, and the least q_z.

        A scale P_z / P_x is absorbed into P_x q_x.
        """
        sets, groups, lower = dict[tuple[int, ...], int](), [], cache(exp_lower)
        for xs, a, zs in self.exponents.groups(k):
            top, bottom = lower(a).as_integer_ratio()
            groups.append((xs, top, bottom, sets.setdefault(zs, len(sets))))
        listed, masses = list(sets), None
        if self.prior is not None:
            masses, _ = over_one_denominator(self.prior)

        def test(q: Sequence[int]) -> Key | None:
            if masses is not None:
                q = list(map(mul, masses, q))
            least = [min([q[z] for z in zs]) if zs[1:] else q[zs[0]] for zs in listed]
            for xs, top, bottom, place in groups:
                if bottom * max([q[x] for x in xs]) > top * least[place]:
                    for x in xs:
                        for z in listed[place]:
                            if x != z and bottom * q[x] > top * q[z]:
                                return "", x, z
            return None

        return test

    def size(self, k: int) -> int:
        """Return the number of entries of a column that the test reads."""
        return k + self.exponents.size(k)

    def moved(self, factor: Fraction, by: Fraction) -> Ratio:
        """Return the rows with every exponent times a number, plus a number."""
        return replace(self, exponents=self.exponents.moved(factor, by))

    def on(self, kept: Sequence[int]) -> Ratio:
        """Return the ratios between the kept inputs."""
        prior = None if self.prior is None else tuple(self.prior[x] for x in kept)
        return Ratio(self.exponents.on(kept), prior)

    def check(self, k: int) -> None:
        """Raise unless the exponents and the prior fit k inputs."""
        self.exponents.check(k)
        if self.prior is not None:
            need(len(self.prior) == k and min(self.prior) > 0, "expected a prior without zeros")
