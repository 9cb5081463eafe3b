"""`python -m app` and the `limblink` command."""

import sys

from app.cli import run

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
