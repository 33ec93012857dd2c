"""Mechanisms for a number of an interval, as they are: no report is rounded, no input left out."""
