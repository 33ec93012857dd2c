"""Points of a plane, and places on the Earth."""
