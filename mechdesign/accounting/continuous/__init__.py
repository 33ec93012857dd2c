"""Mechanisms for continuous data, exactly accounted: by enclosures where no formula is exact."""
