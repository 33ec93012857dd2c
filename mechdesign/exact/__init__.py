"""Exact numbers: decimals as rationals, rational bounds on functions, and enclosures."""

from __future__ import annotations

from mechdesign.exact.rationals import (
    LARGEST,
    LARGEST_EXPONENT,
    LEAST_SIZE,
    PI,
    PRECISION,
    Exact,
    as_fraction,
    exp_lower,
    exp_lower_scaled,
    exp_upper,
    fraction_text,
    is_whole,
    log_lower,
    log_upper,
    short_text,
    shortened,
    sqrt_lower,
    sqrt_upper,
    whole_number,
)

__all__ = [
    "LARGEST",
    "LARGEST_EXPONENT",
    "LEAST_SIZE",
    "PI",
    "PRECISION",
    "Exact",
    "as_fraction",
    "exp_lower",
    "exp_lower_scaled",
    "exp_upper",
    "fraction_text",
    "is_whole",
    "log_lower",
    "log_upper",
    "short_text",
    "shortened",
    "sqrt_lower",
    "sqrt_upper",
    "whole_number",
]
