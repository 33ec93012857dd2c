"""Starts: good private channels computed quickly, as the warm start and the fallback."""
