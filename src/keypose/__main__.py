"""``python -m keypose``: the command line."""

import sys

from keypose.cli import main

if __name__ == "__main__":
    sys.exit(main())
