"""Gains for a purpose: a parameter, a test between hypotheses, a guess with a gain of its own."""
