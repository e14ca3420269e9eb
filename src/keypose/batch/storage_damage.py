"""What is broken in a stored file, in words, and how to get at the rest of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from keypose.batch.inputs import stem
from keypose.storage import Damage, StoredMotion
from keypose.storage.damage import seconds, summary

MOST_PARTS = 4  # that are told how to restore


def told_of(stored: StoredMotion, damage: Sequence[Damage], source: Path, target: Path | None = None) -> str:
    """Which groups are damaged and how, and what to type to get the others."""
    groups = [each for each in damage if each.group is not None]
    others = [each for each in damage if each.group is None]
    if not groups:
        if all(each.loses_nothing for each in others):
            return "; ".join(map(str, others)) + "; all of the motion can be read"
        hint = f"; the frames are sound: {_restore(source, target or _any_target(source))} --no-keys"
        return "; ".join(map(str, others)) + (hint if stored.has_frames else "")
    told = [f"{len(groups)} of {stored.n_groups} groups cannot be read: {summary(groups)}", *map(str, others)]
    spans = stored.sound()
    if not spans:
        return "; ".join(told)
    out = target or _any_target(source)
    ending = out.name[len(stem(out.name)) :]
    parts = [out.with_name(f"{stem(out.name)}_{n}{ending}") for n in range(1, len(spans) + 1)]
    commands = [
        _restore(source, out if len(spans) == 1 else part) + _limits(span, stored.duration_s)
        for part, span in zip(parts, spans[:MOST_PARTS], strict=False)
    ]
    more = f"; and {len(spans) - MOST_PARTS} more parts" if len(spans) > MOST_PARTS else ""
    return f"{'; '.join(told)}; the rest can be restored: {'; '.join(commands)}{more}"


def _any_target(source: Path) -> Path:
    return source.with_name(f"{stem(source.name)}.bvh")


def _restore(source: Path, target: Path) -> str:
    return f"keypose restore {shlex.quote(str(source))} {shlex.quote(str(target))}"


def _limits(span: tuple[float, float], duration_s: float) -> str:
    """The options that ask for a part."""
    start, end = span
    return (f" --from-s {seconds(start)}" if start > 0 else "") + (
        f" --to-s {seconds(end)}" if end < duration_s else ""
    )
