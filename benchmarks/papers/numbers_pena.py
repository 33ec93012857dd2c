"""Numbers in the text of Akter and Hashem (PENA): its worked example and its mean.

Source: Akter and Hashem, Sections 3 and 4: a safe range of $0 to $10000, epsilon = 0.2. The IPUMS
records of its figures are not public; those figures are not drawn.
"""

from __future__ import annotations

import math

from benchmarks.papers.base import Row
from mechdesign.collection.personalized import TwoValuedResponder

PLACE = "PENA, Section 3.3"


def rows() -> list[Row]:
    """Return the rows."""
    responder = TwoValuedResponder(0, 10_000, "0.2")
    chance = float(responder.probability(800))
    size = float(responder.size)
    report = size * (2 * chance - 1)
    low, high = map(float, (responder.low, responder.high))
    return [
        Row("PENA, Section 3.1", "$5700 scaled to [−1, 1]", "0.14", float(responder.scaled(5700))),
        Row(PLACE, "$800 scaled to [−1, 1]", "-0.84", float(responder.scaled(800))),
        Row(PLACE, "size of a report, ε = 0.2", "10.03", size),
        Row(PLACE, "probability of the report 10.03 for $800", "0.46", chance),
        Row(PLACE, "probability of the report −10.03 for $800", "0.54", 1 - chance),
        Row(
            "PENA, Theorem 1",
            "largest ratio of the chances of a report, ε = 0.2",
            math.exp(0.2),
            math.exp(responder.leakage),
        ),
        Row(
            "PENA, Section 3",
            "expected mean in dollars, if all hold $800",
            (high - low) * report,
            low + (high - low) * (report + 1) / 2,
            "reports are unbiased for the value scaled to [−1, 1], not to [0, 1]: the mean is"
            " T_min + (T_max − T_min)(mean f + 1)/2",
        ),
        Row(
            "PENA, Section 3.3",
            "the minimum can be estimated from the reports",
            "yes",
            "no",
            "all hold $5000, or half hold $0 and half $10000: the two-valued reports have the same"
            " law, the minimum is not the same",
        ),
        Row("PENA, Section 4", "40 % of 3.15 million users, in millions", "1.26", 0.4 * 3.15),
    ]
