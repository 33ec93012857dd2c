"""Figures of the papers, saved with a caption on their content and on differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parent / "pictures"

DOTS_PER_INCH = 110


def save(figure: Any, caption: str, path: Path, room: float) -> Path:
    """Write a figure with a caption in its lowest part, a share ``room`` of the height."""
    import matplotlib.pyplot as plt

    figure.tight_layout(rect=(0, room, 1, 1))
    figure.text(0.5, room - 0.01, caption, ha="center", va="top", fontsize=8.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)
    return path
