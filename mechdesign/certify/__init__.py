"""The checker: believes nothing but a saved file, and uses nothing but integers.

It reads the statement of the problem and the integers of the channel from the file, derives by
itself what the notion demands and what the loss is, and checks privacy and optimality exactly. It
shares no code with the notions, the utilities or the routes: only the bounds on exponentials,
logarithms and roots of :mod:`mechdesign.exact` and the exceptions are common. It needs the standard
library alone.

Read it in this order: `statement`, `privacy`, `optimality`, `theorems`, `saved`; a file for an
expected loss under a notion about columns needs no more. The others are each for one thing: `whole`
for notions about the whole channel; `gains` and `columns` for sums of gains, with the searches
`rays`, `sums` and `boxes`; `decoders` for the error of a scalar; `inverse`, `estimation` and
`alike` for the risks of estimation; `simplicial` for universal channels. Structured mechanisms have
a file of their own, `structured`, which needs no other to be understood.
"""

from __future__ import annotations

from mechdesign.certify.any_file import verify
from mechdesign.certify.channel_file import Verified, digest

__all__ = ["Verified", "digest", "verify"]
