"""The header of a ``.kps`` file: all of a clip but its frames, in as few bytes as it takes. See docs/kps.md."""
