"""Forms of cones, which determine the pricing of rays and whether prices prove a bound."""
