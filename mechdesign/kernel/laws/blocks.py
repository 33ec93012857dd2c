"""Laws made of parts, each on some of the inputs. W is 2**62.

by-component
    A row is that of the part of its block. Two blocks are not bounded against each other, and the
    rows of one block are those of its part: the largest ratio of a part.
high-low
    A protected row is that of the inner part, which has N reports. Any other row has u / (W N) on
    each of them and (W - u) / W on its own label, which no protected row has. So ratios that are
    bounded are those of the part, and its largest probability against u / (W N).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Cone
from mechdesign.kernel.laws.base import WHOLE, Law, LawLeak, check_masses
from mechdesign.kernel.laws.ratios import ConstantLaw, Ratios, constant
from mechdesign.kernel.schema import Whole


@dataclass(frozen=True)
class Part:
    """A law on a subset of the inputs, and its epsilon."""

    epsilon: Fraction
    law: ConstantLaw

    def ratios(self, k: int) -> Ratios:
        """Return the ratios on k inputs, which its epsilon must bound."""
        found = self.law.ratios(k)
        keeps = self.epsilon >= 0 and found.ratio <= exp_lower(self.epsilon)
        need(keeps, "a part leaks more than its epsilon")
        return found


@dataclass(frozen=True)
class ByComponent(Law):
    """The distinct parts, and the index of the part of each block."""

    parts: tuple[Part, ...]
    part_of_block: tuple[Whole, ...]

    def leak(self, part: Cone, k: int) -> LawLeak:
        """Return the largest ratio of a part, each on the inputs of its blocks."""
        asked, own = constant(part), self.part_of_block
        need(asked.protected is None, f"{self.kind}: protected inputs are not supported")
        sizes = [size for _, size in sorted(Counter(asked.block or (0,) * k).items())]
        fits = len(own) == len(sizes) and set(own) == set(range(len(self.parts)))
        need(fits, "the parts do not match the blocks")
        used = sorted(set(zip(own, sizes, strict=True)))
        return LawLeak(max(self.parts[n].ratios(m).ratio for n, m in used))

    def steps(self, part: Cone, k: int) -> int:
        """Return the work on one part for each block, and on the inputs."""
        most = max((piece.law.steps(part, k) for piece in self.parts), default=0)
        return 20 * k + len(self.part_of_block) * most


@dataclass(frozen=True)
class HighLow(Law):
    """The part of protected inputs, and u."""

    inner: Part
    uniform: Whole

    def leak(self, part: Cone, k: int) -> LawLeak:
        """Return the larger of the ratio of the part, and most by u / W."""
        asked = constant(part)
        size = len(asked.guarded) if asked.protected and asked.block is None else 0
        need(size, f"{self.kind}: needs a notion with protected inputs")
        need(size < k, "an input is treated as harmless, but all are sensitive")
        check_masses(self.uniform)
        inner = self.inner.ratios(size)
        need(inner.most, "the inner part must have two probabilities")
        return LawLeak(max(inner.ratio, inner.most * WHOLE / self.uniform))

    def steps(self, part: Cone, k: int) -> int:
        """Return the work on the part, and the inputs."""
        return 20 * k + self.inner.law.steps(part, k)
