"""Pictures on which the reader turns a number."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt

__all__ = ["slide"]


def slide(
    draw: Callable[[Any, Any], None],
    values: Sequence[Any],
    name: str = "epsilon",
    size: tuple[float, float] = (4.2, 3.6),
) -> None:
    """Draw a picture for the value that a slider chooses; without ipywidgets, one for each value.

    Parameters
    ----------
    draw
        Draws on the axes for the value.
    values
        What the slider offers, in order.
    name
        The label of the slider.
    size
        Of one picture, in inches.

    Notes
    -----
    A saved notebook holds no slider that works, so notebooks are executed for the repository with
    the environment variable ``STATIC_PICTURES`` set.
    """
    width, height = size
    if os.environ.get("STATIC_PICTURES") or importlib.util.find_spec("ipywidgets") is None:
        _, axes = plt.subplots(
            1, len(values), figsize=(width * len(values), height), layout="constrained"
        )
        for ax, value in zip(axes, values, strict=True):
            draw(ax, value)
        plt.show()
        return
    from ipywidgets import SelectionSlider, interact

    def show(value: Any) -> None:
        _, ax = plt.subplots(figsize=(width * 1.3, height * 1.3), layout="constrained")
        draw(ax, value)
        plt.show()

    interact(show, value=SelectionSlider(options=list(values), description=name))
