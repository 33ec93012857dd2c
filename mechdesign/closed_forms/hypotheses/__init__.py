"""Formulas for telling two laws of the input apart."""
