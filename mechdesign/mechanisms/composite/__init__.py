"""Mechanisms made from others: by component, and around sensitive inputs (high-low)."""
