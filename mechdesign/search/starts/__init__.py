"""Starts: good private channels in a moment, before any search and where one falls short."""
