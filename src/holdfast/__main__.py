"""`python -m holdfast`."""

from .faces.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
