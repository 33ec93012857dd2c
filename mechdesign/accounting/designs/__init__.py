"""Designs whose reports keep a central budget, shuffled or added up."""
