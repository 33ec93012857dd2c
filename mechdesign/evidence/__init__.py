"""Evidence: what a search or a theorem has, as a certificate of the kernel.

Nothing here is trusted: whatever multipliers and prices come out, the kernel makes them safe.
"""
