"""Run the command line with ``python -m mechdesign``."""

from mechdesign.cli import main

raise SystemExit(main())
