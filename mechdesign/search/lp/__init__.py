"""Linear programs through HiGHS, as they stand or as extended formulations."""
