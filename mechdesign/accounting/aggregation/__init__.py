"""What the sum of bit vectors tells, when an aggregator sees no more than it."""
