"""Files: problems in TOML, channels in JSON, priors from tables of records.

Files are verified on reading, and written atomically. Modules are imported when they are first
used: to verify a file the kernel is enough.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
