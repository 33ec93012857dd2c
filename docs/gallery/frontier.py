"""Loss against the budget.

A survey of a rare disease under LIP and under LDP: what is lost at each ε, with the least ε that
reaches a loss of 0.07, proved from both sides.
"""

import mechdesign as md

budgets = [0.25 * n for n in range(1, 17)]
error = md.PosteriorMeanSquaredError([1, 0])
problems = [
    md.Problem(["yes", "no"], notion, error, prior=[0.1, 0.9]) for notion in (md.LIP(1), md.LDP(1))
]
curves = [md.design_frontier(problem, budgets, progress=False) for problem in problems]
reach = md.min_epsilon(problems[0], "0.07")
md.plots.plot_frontier(curves, title="A rare disease", labels=["LIP", "LDP"], reached=[reach])
