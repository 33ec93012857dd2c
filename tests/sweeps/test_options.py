"""The options of sweeps: one list, which help() shows."""

import inspect
from dataclasses import fields

import pytest

import mechdesign as md
from mechdesign.sweeps import design_each, trace_frontier
from mechdesign.sweeps.tasks import Options

SURVEY = md.Problem(["yes", "no"], md.LDP(1), md.HammingLoss())
NAMED = {one.name: one.default for one in fields(Options) if not one.kw_only}


@pytest.mark.parametrize(
    "function", [md.design_many, design_each, trace_frontier, md.design_frontier]
)
def test_help_lists_every_option_with_its_default(function: object) -> None:
    listed = inspect.signature(function).parameters  # type: ignore[arg-type]
    own = {name: one.default for name, one in listed.items() if one.kind is one.KEYWORD_ONLY}
    dropped = set() if "errors" in own else {"errors", "route"}
    assert own == {name: default for name, default in NAMED.items() if name not in dropped}
    with pytest.raises(TypeError, match="nonsense"):
        function(SURVEY, [1], nonsense=1) if dropped else function([], nonsense=1)  # type: ignore[operator]
