"""Non-conic notions: convex constraints on the channel as a whole."""
