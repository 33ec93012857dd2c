"""Information in each report.

Four answers of a survey under LDP: above each report, how likely each answer is for somebody who
saw it, with the prior over each bar.
"""

import mechdesign as md

prior = md.Prior([0.4, 0.3, 0.2, 0.1])
answers = ["never", "monthly", "weekly", "daily"]
problem = md.Problem(answers, md.LDP(1.5), md.MutualInformation(), prior=prior)
md.plots.plot_posterior(md.design(problem).channel, prior, title="LDP(1.5)")
