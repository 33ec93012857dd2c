"""Linear programs through HiGHS, directly or as extended formulations."""
