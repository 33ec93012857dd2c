"""The checker of saved files: exact proofs of privacy and of optimality, in integers and rationals.

It reads the problem and the integers of the channel from the file, derives the rows of the notion
and the loss by itself, and checks every claim. It shares no code with the notions, the utilities or
the routes, except the bounds on exponentials, logarithms and roots of :mod:`mechdesign.exact` and
the exceptions. It needs the standard library only.

What a file may hold at all is in `schema`, in the forms of `forms`. An audit of privacy then reads
`fixed_point`, `loss_tables`, `problem` and the folder `privacy`, where `check` comes first. An
audit of optimality goes on with `proof`, which says what each kind of evidence is for, and with
`bounds`: `duality` for expected losses,
`theorems` for bounds without data, `reduced_gains` for sums of gains, with the searches `rays`,
`lift_knapsack` and `boxes`. The others are for one case each: `chain` for inputs on a line,
`decoders` for the error of a scalar, `inverse_information`, `estimation_risk` and
`exchangeable_inputs` for the risks of estimation, and `simplicial` for universal channels.
`channel_file` ties them together. Structured mechanisms have `mechanism_file`, which can be read
without the rest.
"""

from __future__ import annotations

from mechdesign.certify.any_file import parse, verify
from mechdesign.certify.channel_file import Verified, canonical, digest

__all__ = ["Verified", "canonical", "digest", "parse", "verify"]
