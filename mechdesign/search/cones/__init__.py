"""Forms of cones that decide how rays are priced, and whether prices alone prove a bound."""
