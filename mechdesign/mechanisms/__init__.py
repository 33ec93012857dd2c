"""Structured mechanisms: channels on large domains, drawn and estimated without a matrix."""

from __future__ import annotations

from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse

__all__ = ["Frequencies", "GeneralizedRandomizedResponse", "HadamardResponse", "Mechanism"]
