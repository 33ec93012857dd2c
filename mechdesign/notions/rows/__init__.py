"""Cones of columns: the rows of a conic notion, by the structure that they share."""
