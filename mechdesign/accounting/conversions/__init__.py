"""Relations: what a guarantee under one notion implies under another."""
