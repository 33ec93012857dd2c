"""A gain is passed on with its constant, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from mechdesign.kernel.gains import Hellinger
from mechdesign.kernel.linearizations import AsGain
from mechdesign.kernel.objectives import Risk
from mechdesign.kernel.statement import Statement
from tests.kernel.draws import refused

ONE = Fraction(1)


def test_a_gain_as_it_is() -> None:
    form = Hellinger.of((ONE,), (2 * ONE,))
    form = replace(form, constant=ONE / 3)
    program = AsGain()(Statement(1, (), (), form))
    assert (program.gain, program.constant, program.nodes) == (form, ONE / 3, None)
    with refused("expected a gain"):
        AsGain()(Statement(1, (), (), Risk(roots=False, prior=(ONE,))))
