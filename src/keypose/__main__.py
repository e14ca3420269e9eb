"""Run the command line by ``python -m keypose``."""

import sys

if __name__ == "__main__":
    try:
        from keypose.cli import main

        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
