"""Where the lossless keys of each unbaked clip go: beside its target, settled before anything is written."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from keypose.batch.inputs import Inputs
from keypose.batch.plan import Existing, Plan
from keypose.errors import FileError, OptionError
from keypose.formats import writable_suffixes

KEYS_SUFFIX = ".keys.json"
KEYS_SUFFIXES = (KEYS_SUFFIX, f"{KEYS_SUFFIX}.gz")


def keys_file_of(target: Path) -> Path | None:
    """``walk.keys.json`` for ``walk.glb``; None for a target that is such a file itself."""
    name = target.name
    if name.lower().endswith(KEYS_SUFFIXES):
        return None
    suffix = max((s for s in writable_suffixes() if name.lower().endswith(s)), key=len, default=target.suffix)
    return target.with_name(name[: len(name) - len(suffix)] + KEYS_SUFFIX)


def without_results(inputs: Inputs, names: list[str]) -> Inputs:
    """The clips without the keys of earlier runs that a folder or pattern holds; one that is named outright stays."""
    named = {os.path.abspath(name) for name in names}  # noqa: PTH100 - links stay as they are
    files = tuple(
        file
        for file in inputs.files
        if not file.path.name.lower().endswith(KEYS_SUFFIXES) or os.path.abspath(file.path) in named  # noqa: PTH100
    )
    if inputs.files and not files:
        problem = FileError(f"{names[0]}: nothing but keys of clips that are unbaked already; to start from them "
                            f"again, name such a file itself")  # fmt: skip
        return replace(inputs, files=files, problems=(*inputs.problems, problem))
    return replace(inputs, files=files)


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
