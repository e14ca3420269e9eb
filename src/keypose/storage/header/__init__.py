"""The header of a ``.kps`` file: all of a clip but its frames, compactly coded. See docs/kps.md."""
