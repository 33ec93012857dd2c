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
}
