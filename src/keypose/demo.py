from keypose.model import Motion


def demo_motion() -> Motion:
    raise SystemExit
