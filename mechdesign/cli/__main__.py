"""``python -m mechdesign.cli``."""

from mechdesign.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
