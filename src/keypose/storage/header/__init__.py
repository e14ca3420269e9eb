"""The header of a ``.kps`` file: everything of a clip except its frames, compactly coded. See docs/kps.md."""
