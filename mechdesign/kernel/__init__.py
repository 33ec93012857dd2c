"""The kernel: a statement, a channel, a certificate, and one inequality (`proof`).

It imports the standard library, :mod:`mechdesign.exact`, :mod:`mechdesign.errors` and
:mod:`mechdesign.resources`, and nothing else of the library.
"""

from mechdesign.kernel.claims import Verified
from mechdesign.kernel.documents import canonical, digest, parse
from mechdesign.kernel.verify import verify

__all__ = ["Verified", "canonical", "digest", "parse", "verify"]
