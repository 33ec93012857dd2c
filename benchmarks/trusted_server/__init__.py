"""A trusted server that counts bits, beside local privacy: exact errors and published bounds."""
