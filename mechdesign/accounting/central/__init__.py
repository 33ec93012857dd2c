"""The central privacy of shuffled reports, between two bounds that hold in floating point."""
