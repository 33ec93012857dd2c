"""The design of a mechanism for a continuous input: finer and finer nodes, and a proof of each."""
