"""``python -m keypose``: the command line."""

import sys

if __name__ == "__main__":
    try:
        from keypose.cli import main

        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
