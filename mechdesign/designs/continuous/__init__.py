"""The design of a mechanism for a continuous input, on finer and finer grids of nodes."""
