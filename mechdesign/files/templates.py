"""Commented problem files to start from, one for each notion."""

from __future__ import annotations

from mechdesign.notions import Notion

SKELETON = """\
# A problem for mechdesign: {title}.
# Solve it with:  mechdesign solve THIS_FILE.toml -o channel.json
title = "An example of {title}"
# source = "where the problem comes from"

[domain]                    # the inputs; exactly one of these forms
values = [0, 1, 2, 3]       # labels or numbers, in order
# size = 4                  # inputs 0..3
# grid = {{ rows = 2, columns = 2, spacing = 1.0 }}   # points (row, column), row by row
# points = [[0, 0], [1, 2.5]]                         # of a plane, labelled 0, 1, ...

[prior]                     # {prior_comment}
probabilities = [0.1, 0.2, 0.3, 0.4]
# uniform = true
# counts = [10, 20, 30, 40]
# data = {{ file = "records.csv", column = "answer", separator = ",", smoothing = 1 }}

[privacy]
notion = "{name}"
{keys}
# For the intersection of several notions, write one [[privacy]] table for each.

[utility]
objective = "mean-absolute-error"   # or mean-squared-distance, hamming, euclidean, distortion
# worst_case = true                 # the largest over the inputs instead of the mean
# matrix = [[0, 1], [1, 0]]         # for distortion: a row for each input
# objective = "posterior-mean-squared-error"    # of the aggregator's best estimate of f(X)
# values = [0, 0, 0, 1]             # f(x), here a survey; default: the inputs themselves
# histogram = true                  # instead of values: the error of the whole posterior
# objective = "mutual-information"  # in nats, maximized; bayes-accuracy likewise
# objective = "g-vulnerability"     # gain of the best guess, maximized; any number of guesses
# gain_matrix = [[1, 1, 0, 0], [0, 0, 1, 1]]    # a row for each guess, a number for each input
# objective = "fisher-information"  # about a parameter of the law of the inputs, maximized
# scores = [-1, -1, 1, 1]           # d/dtheta ln p(x), or a list of them for each input
# objective = "total-variation"     # between two mixtures of inputs, maximized; likewise
# first = 0                         # kullback-leibler, chi-squared, squared-hellinger
# second = {{ 1 = 0.5, 2 = 0.5 }}
# objective = "l2-risk"             # of estimating the distribution of X from reports; or tv-risk
# objective = "unbiased-variance"   # of readings of the reports that have the mean f(X), as values

# [outputs]                 # default: the domain
# values = [0, 1.5, 3]

# [expected]                # what is known in advance, compared by `mechdesign check`
# value = 0.5
# rtol = 1e-6
"""


CONTINUOUS = """\
# A problem for mechdesign: a number on an interval.
# Solve it with:  mechdesign solve THIS_FILE.toml -o channel.json
title = "An example of a continuous input"
# source = "where the problem comes from"

[domain]
interval = [0, 100]         # where the number lies; an end may be "-inf" or "inf"

[prior]                     # the law of the number; exactly one of the forms, default uniform
law = { name = "normal", parameters = [40, 15] }   # as scipy.stats has it, truncated
# mixture = { weights = [0.4, 0.6], means = [30, 60], deviations = [5, 10] }
# histogram = { edges = [0, 10, 50, 100], masses = [0.2, 0.5, 0.3] }
# samples = { file = "records.csv", column = "age" }    # or a list of numbers
# kde = { file = "records.csv", column = "age", bandwidth = 3 }

[privacy]
notion = "lip"              # or ldp, pml, lift, metric (distance = "absolute"), approximate-ldp,
epsilon = 1.0               # approximate-lip, maximal-leakage, mutual-information

[utility]
objective = "mean-absolute-error"   # or mean-squared-distance, posterior-mean-squared-error
# worst_case = true                 # the largest over the interval instead of the mean

# [expected]                # what is known in advance, compared by `mechdesign check`
# value = 5.0
# rtol = 1e-2
"""


def template(notion: type[Notion]) -> str:
    """Return a commented problem file for a notion, which can be solved unchanged.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> print(template(LDP).splitlines()[0])
    # A problem for mechdesign: local differential privacy.
    """
    needed = "needed: the notion is defined by it"
    optional = "optional: default uniform; the notion does not depend on it, the utility does"
    return SKELETON.format(
        name=notion.name,
        title=notion.title,
        keys=notion.example.strip(),
        prior_comment=needed if notion.needs_prior else optional,
    )
