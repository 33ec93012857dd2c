"""How well a test can tell two inputs apart.

The errors of the best test between two diagnoses from one report, in the region that their budgets
allow.
"""

import mechdesign as md
from mechdesign.accounting import error_region

inputs = ["healthy", "flu", "hiv"]
budgets = [[0, 2, 2], [1, 0, 2], ["0.4", "0.5", 0]]
problem = md.Problem(inputs, md.ContextAwareLDP(budgets), md.MutualInformation())
curve = md.accounting.trade_off(md.design(problem).channel, "hiv", "healthy")
md.plots.plot_error_region(curve, error_region(0.4, 2), title="hiv against healthy")
