"""Mutants of the kernel that change nothing that a test could see, with reasons."""

from __future__ import annotations

CHAINS = "a diagonal entry above 0 shortens no chain"

EQUIVALENT: dict[str, str] = {
    "relaxations/implied.py _closed: x != z and a is not None and a < least.get((x, z), a + 1)"
    " -> (a is not None and a < least.get((x, z), a + 1))": CHAINS,
    "proof.py least: abs(b - a) >= curvature -> (abs(b - a) > curvature)": "at the edge the"
    " parabola is least at the end itself",
    "proof.py _multiply: program.nodes or [] -> (program.nodes)": "a gain takes no multipliers, and"
    " what is linear has nodes",
    "generators/base.py Block.entries: 1 -> (2)": "where there are no nodes, any number below 0 is"
    " below the number of nodes",
    "oracles/one_budget.py _level: a // b -> (-(-a // b))": "e >= 0 is missed by less than one unit"
    " of prices, which are whole and rounded down after it",
    "oracles/one_budget.py _level: 0 -> (1)": "Newton's steps start anywhere, and an e of 0 adds"
    " nothing to W",
    "oracles/products.py Products._bounds.ratio: bound and"
    " Fraction(scaled(bound, up=True, bits=GRID), 1 << GRID) -> (bound)": "rounding makes the bound"
    " shorter; as it is it holds too",
    "linearizations/boxes.py _Shrink.__call__: any -> (all)": "a box that is empty stays so, and is"
    " seen in the end",
    "limits.py Gauge.most: self.limit >= 0 -> (self.limit > 0)": "any power times 0 is 0",
    "limits.py Gauge._excess: v > 0 -> (v >= 0)": "adds 0",
}
