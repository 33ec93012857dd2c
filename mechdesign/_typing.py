"""Names for NumPy arrays by the kind of their entries, used in annotations throughout."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
"""Indices: what NumPy's own functions return as positions."""
Int64Array: TypeAlias = npt.NDArray[np.int64]
"""Numerators, codes and counts, 64 bits on every platform."""
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
"""Rows of bits, packed eight to a byte."""
WordArray: TypeAlias = npt.NDArray[np.uint64]
ObjectArray: TypeAlias = npt.NDArray[np.object_]
"""Python integers or labels."""
AnyArray: TypeAlias = npt.NDArray[Any]
