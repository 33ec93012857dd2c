"""Composite mechanisms: one mechanism per block, or for the sensitive inputs (high-low)."""
