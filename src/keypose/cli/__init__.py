"""The command line: parse, call, print."""


def main() -> int:
    """The program ``keypose``; its exit code."""
    # Imported here because every worker process imports this module again, and needs none of it.
    from keypose.cli.app import run

    return run()
