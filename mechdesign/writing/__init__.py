"""Writing: files whole or not at all, and text that neither a terminal nor a spreadsheet obeys."""
