"""Choose and check the lossless keys file beside each target of ``unbake``, before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

from keypose.batch.file_discovery import KEYS_SUFFIXES, stem
from keypose.batch.plan import ExistingPolicy, Plan
from keypose.errors import FileError, OptionError


def keys_file_for(target: Path) -> Path | None:
    """Return ``walk.keys.json`` for ``walk.glb``; None for a target that is a keys file itself."""
    if target.name.lower().endswith(KEYS_SUFFIXES):
        return None
    return target.with_name(stem(target.name) + KEYS_SUFFIXES[0])


def check_keys_files(plan: Plan, existing: ExistingPolicy) -> None:
    """Raise if a keys file would replace existing keys or a clip of the plan."""
    sources = {os.path.realpath(t.source) for t in plan.targets}
    files = [file for t in plan.targets if (file := keys_file_for(t.target)) is not None]
    for file in files:
        if os.path.realpath(file) in sources:
            raise OptionError(f"{file}: is to be unbaked itself, and would be replaced by the keys of the result; "
                              f"--no-keys writes none, or give the result another name")  # fmt: skip
    existing_files = [file for file in files if os.path.lexists(file)]
    if existing_files and existing != "overwrite":
        more = f" (and {len(existing_files) - 1} more)" if len(existing_files) > 1 else ""
        raise FileError(
            f"{existing_files[0]}: exists already{more}, and another result may need it to get its detail back; "
            f"--overwrite replaces it, --no-keys writes none"
        )
