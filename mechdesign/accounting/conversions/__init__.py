"""Relations: the guarantees that one notion implies under others."""
