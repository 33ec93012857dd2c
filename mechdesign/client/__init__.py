"""Clients: samplers of certified channels for devices, in C and JavaScript."""

from __future__ import annotations

from mechdesign.client.export import (
    LANGUAGES,
    VectorSource,
    client_table,
    export_client,
    vector_lines,
)

__all__ = ["LANGUAGES", "VectorSource", "client_table", "export_client", "vector_lines"]
