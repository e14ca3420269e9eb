"""Describe the damage of a .kps file, with commands that restore the rest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from keypose.batch.file_discovery import stem
from keypose.storage import Damage, StoredMotion
from keypose.storage.damage import format_seconds, summarize_damage

MAX_COMMANDS = 4  # restore commands in one message


def describe_damage(stored: StoredMotion, damage: Sequence[Damage], source: Path, target: Path | None = None) -> str:
    """Return which groups are damaged and how, and the commands that restore the others."""
    damaged_groups = [each for each in damage if each.group is not None]
    other_damage = [each for each in damage if each.group is None]
    if not damaged_groups:
        if all(each.is_harmless for each in other_damage):
            return "; ".join(map(str, other_damage)) + "; all of the motion can be read"
        hint = f"; the frames are sound: {_restore_command(source, target or _default_target(source))} --no-keys"
        return "; ".join(map(str, other_damage)) + (hint if stored.has_frames else "")
    problems = [
        f"{len(damaged_groups)} of {stored.n_groups} groups cannot be read: {summarize_damage(damaged_groups)}",
        *map(str, other_damage),
    ]
    spans = stored.intact_spans()
    if not spans:
        return "; ".join(problems)
    base_target = target or _default_target(source)
    suffix = base_target.name[len(stem(base_target.name)) :]
    span_targets = [base_target.with_name(f"{stem(base_target.name)}_{n}{suffix}") for n in range(1, len(spans) + 1)]
    commands = [
        _restore_command(source, base_target if len(spans) == 1 else part) + _span_options(span, stored.duration_s)
        for part, span in zip(span_targets, spans[:MAX_COMMANDS], strict=False)
    ]
    more = f"; and {len(spans) - MAX_COMMANDS} more parts" if len(spans) > MAX_COMMANDS else ""
    return f"{'; '.join(problems)}; the rest can be restored: {'; '.join(commands)}{more}"


def _default_target(source: Path) -> Path:
    return source.with_name(f"{stem(source.name)}.bvh")


def _restore_command(source: Path, target: Path) -> str:
    return f"keypose restore {shlex.quote(str(source))} {shlex.quote(str(target))}"


def _span_options(span: tuple[float, float], duration_s: float) -> str:
    """Return the options that restore only this span, given in seconds."""
    start, end = span
    return (f" --from-s {format_seconds(start)}" if start > 0 else "") + (
        f" --to-s {format_seconds(end)}" if end < duration_s else ""
    )
