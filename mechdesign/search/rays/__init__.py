"""Extreme rays of a cone of columns: enumeration, search, and linear programs over them."""
