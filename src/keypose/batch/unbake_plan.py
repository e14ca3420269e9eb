"""Where the lossless keys of each unbaked clip go: beside its target, settled before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

from keypose.batch.inputs import KEYS_SUFFIXES, stem
from keypose.batch.plan import Existing, Plan
from keypose.errors import FileError, OptionError


def keys_file_of(target: Path) -> Path | None:
    """``walk.keys.json`` for ``walk.glb``; None for a target that is such a file itself."""
    if target.name.lower().endswith(KEYS_SUFFIXES):
        return None
    return target.with_name(stem(target.name) + KEYS_SUFFIXES[0])


def check_keys_files(plan: Plan, existing: Existing) -> None:
    """Refuses to replace keys that are there already, or a clip that is to be read."""
    sources = {os.path.realpath(t.source) for t in plan.targets}
    files = [file for t in plan.targets if (file := keys_file_of(t.target)) is not None]
    for file in files:
        if os.path.realpath(file) in sources:
            raise OptionError(f"{file}: is to be unbaked itself, and would be replaced by the keys of the result; "
                              f"--no-keys writes none, or give the result another name")  # fmt: skip
    there = [file for file in files if os.path.lexists(file)]
    if there and existing != "overwrite":
        more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
        raise FileError(f"{there[0]}: exists already{more}, and another result may need it to get its detail back; "
                        f"--overwrite replaces it, --no-keys writes none")  # fmt: skip
