"""The checker: believes nothing but a saved file, and uses nothing but integers.

It reads the statement of the problem and the integers of the channel from the file, derives by
itself what the notion demands and what the loss is, and checks privacy and optimality exactly. It
shares no code with the notions, the utilities or the routes: only the bounds on exponentials and
roots of :mod:`mechdesign.exact` and the exceptions are common. It needs the standard library alone.

Read it in this order: `statement`, `privacy`, `optimality`,
`theorems`, `saved`.
"""

from __future__ import annotations

from mechdesign.certify.saved import Verified, digest, verify

__all__ = ["Verified", "digest", "verify"]
