"""Extreme rays of a cone of columns: enumeration, search, and the programs over them."""
