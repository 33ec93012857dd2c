"""Mutants of the kernel that change nothing that a test could see, with reasons."""

from __future__ import annotations

LONGER = "more digits of a factor that is rounded down too"

ONLY_NUMBER = "a number over one denominator"

ON = "one more place is visited before the work is refused"

CAUCHY = "moments that no law has are refused, and how far they are off is computed from them"

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
    "oracles/linear.py _level: a // b -> (-(-a // b))": "e >= 0 is missed by less than one unit"
    " of prices, which are whole and rounded down after it",
    "oracles/linear.py _level: 0 -> (1)": "Newton's steps start anywhere, and an e of 0 adds"
    " nothing to W",
    "linearizations/boxes.py _Shrink.__call__: any -> (all)": "a box that is empty stays so, and is"
    " seen in the end",
    "limits.py Gauge.most: self.limit >= 0 -> (self.limit > 0)": "any power times 0 is 0",
    "limits.py Gauge._excess: v > 0 -> (v >= 0)": "adds 0",
    "oracles/linear.py _level: rest // column -> (-(-rest // column))": "the last of Newton's"
    " steps is rounded down, and ends at a level that keeps W >= 0",
    "oracles/walk.py Walk.__call__: (current().steps - self.steps(statement))"
    " // STEPS_PER_PLACE -> (-(-(current().steps - self.steps(statement)) // STEPS_PER_PLACE))": ON,
    "oracles/walk.py open_sets: max(a + rest_one[d], b + rest_other[d]) <= 0"
    " -> (max(a + rest_one[d], b + rest_other[d]) < 0)": "rays that need nothing are listed too",
    "laws/design.py _Moves.__init__: row + r -> (r)": "counts work only",
    "packed.py _unpack: 1 -> (2)": "any length beyond the stated one is refused",
    "risk.py Inverse.of: 1 -> (2)": "more digits, or a unit more of error; the residual"
    " has its own test",
    "rounding/moments.py _rounded: any -> (all)": CAUCHY,
    "rounding/moments.py _rounded: math.ceil(row[k].high * kept) + slack"
    " -> (math.ceil(row[k].high * kept))": CAUCHY,
    "risk.py _information: 0 -> (1)": "all columns are of one length",
    "rounding/value.py highest: 0 -> (1)": "a parabola that bends up has its maximum at an end",
    "rounding/value.py highest: bend >= 0 -> (bend > 0)": "without a bend no rise is below 0",
    "rounding/bound.py program: max -> (min)": "any number may be added to all costs",
    "oracles/products.py Products._bounds.bound: ratio and"
    " Fraction(scaled(ratio, up=True, bits=GRID), 1 << GRID) -> (ratio)": "rounding makes the bound"
    " shorter; as it is it holds too",
    "generators/base.py ListedRow.net: 160 -> (320)": LONGER,
    "generators/lift.py Ball.largest.largest: 0 -> (1)": ONLY_NUMBER,
    "objectives.py _grid_of_labels: 0 -> (1)": "other numbers of columns do not give these points",
    "oracles/walk.py open_sets: a + _rest(one)[0] -> (a - _rest(one)[0])": "the order only",
    "oracles/simplicial.py Simplicial.__call__: 2 -> (1)": "counts work only",
    "oracles/linear.py _beyond: total >= 0 -> (total > 0)": "any factor times 0 is 0",
    "oracles/products.py _rest: weight * a / 2 -> (weight * a)": "T is positive if 2 T is",
    "generators/ratio.py Matrix.groups: a >= 0 -> (a > 0)": "the same rows one by one",
}
