"""The runs of the commands of ``keypose library`` that look, change and keep: what is done and what is said."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.text import Text

from keypose.batch.nearest import did_you_mean
from keypose.cli import library_view, output
from keypose.cli.clip_view import duration, file_size
from keypose.cli.exits import FAILED, UsageError
from keypose.cli.wording import for_command_line
from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.library.nouns import Clip, Fault
from keypose.library.rankers.sheets import PARTS
from keypose.library.wording import clean_tags

ROWS_SHOWN = 200  # of a list, where nothing is said
ASKED_ABOUT = 10  # clips that a question names


def document(clip: Clip) -> dict[str, Any]:
    """A clip, for JSON."""
    return asdict(clip) | {"added_at": clip.added_at.isoformat()}


def documents(clips: Sequence[Clip]) -> list[dict[str, Any]]:
    """Clips, for JSON."""
    return [document(clip) for clip in clips]


def list_clips(library: Library, filters: Mapping[str, Any], limit: int | None, skip: int, *, json: bool) -> int:
    """Clips as a table, without a ``limit`` of as many as a person may read; or all of them, for JSON."""
    clips, count = library.clips(**filters, limit=limit, skip=skip), library.count(**filters)
    if json:
        output.show_json({"library": library.where, "count": count, "clips": documents(clips)})
        return 0
    if not clips:
        output.line(f"no such clip in {library.where}" if not count else f"{count:,} clips, and all were left out")
        say_unknown_tags(library, filters["tags"])
        return 0
    some = clips[:ROWS_SHOWN] if limit is None else clips
    output.show(library_view.clip_table(some, output.console().width))
    output.line(library_view.total(clips, count))
    if len(some) < len(clips):
        output.note(f"the first {len(some)} of {len(clips)} are shown; --limit shows more, words and --tag find fewer")
    return 0


def say_unknown_tags(library: Library, tags: Sequence[str]) -> None:
    """Tags that were asked for and that no clip has, with those that may be meant."""
    known = {tag for tag, _ in library.tags()} if tags else set()
    for tag in clean_tags(tags):
        if tag not in known:
            output.note(f"no clip has the tag {tag!r}{did_you_mean(tag, sorted(known))}")


def show_clips(library: Library, clips: Sequence[Clip], strip: Path | None, *, json: bool) -> int:
    """What is known about clips; ``strip``: where the picture of the only one goes."""
    if strip is not None:
        _save_strip(library, clips[0], strip)
    told = []
    for n, clip in enumerate(clips):
        key_frames, swinging = library.key_frames(clip.hash), _swinging(library, clip)
        if json:
            told.append(document(clip) | {"key_frames": list(key_frames), "swings": dict(swinging)})
            continue
        if n:
            output.line("")
        output.show(library_view.clip_block(clip, key_frames, swinging))
    if json:
        output.show_json({"clips": told, "strip": None if strip is None else str(strip)})
    elif strip is not None:
        output.line(f"{strip}: written")
    return 0


def _save_strip(library: Library, clip: Clip, target: Path) -> None:
    picture = library.strip(clip.hash)
    if picture is None:
        raise OptionError(f"{clip.name}: {clip.n_joints} joints, expected fewer: its key poses were not drawn")
    picture.save(target)


def _swinging(library: Library, clip: Clip) -> list[tuple[str, int]]:
    """How many swings each part of the body does, the most first."""
    return Counter(PARTS[part] for part in library.swings(clip.hash).parts.tolist()).most_common()


def tag_clips(library: Library, clips: Sequence[Clip], add: Sequence[str], remove: Sequence[str], *, json: bool) -> int:
    """Gives and takes tags, and says which there are now."""
    if remove and not json:
        there = sorted({tag for clip in clips for tag in clip.tags})
        for tag in clean_tags(remove):
            if tag not in there:
                output.note(f"none of them has the tag {tag!r}{did_you_mean(tag, there)}")
    changed = []
    for clip in clips:
        now = library.tag(clip.hash, *add) if add else clip
        changed.append(library.untag(clip.hash, *remove) if remove else now)
        if not json:
            output.line(f"{clip.name}: {', '.join(changed[-1].tags) or 'no tags'}")
    if json:
        output.show_json({"clips": documents(changed)})
    return 0


def rename_clip(library: Library, called: str, name: str, *, json: bool) -> int:
    """Gives a clip another name, and says so."""
    before = library.clip(called)
    after = library.rename(before.hash, name)
    others = [clip for clip in library.named(after.name) if clip.hash != after.hash]
    if others and not json:
        many = "another clip is" if len(others) == 1 else f"{len(others)} other clips are"
        output.note(f"{many} called {after.name} too: {after.hash[: library_view.HASH_DIGITS]} is this one")
    if json:
        output.show_json({"clip": document(after), "was_named": before.name})
    else:
        output.line(f"{before.name}: is {after.name} now")
    return 0


def describe_clips(
    library: Library,
    clips: Sequence[Clip],
    *,
    source: str | None,
    licence: str | None,
    note: str | None,
    json: bool,
) -> int:
    """Says something else about clips, and tells what is said of them now."""
    changed = [library.describe(clip.hash, source=source, licence=licence, note=note) for clip in clips]
    if json:
        output.show_json({"clips": documents(changed)})
        return 0
    for clip in changed:
        said = (("source", clip.source), ("licence", clip.licence), ("note", clip.note))
        told = ", ".join(f"{what} {text}" for what, text in said if text)
        output.line(f"{clip.name}: {told or 'nothing is said of it'}")
    return 0


def remove_clips(library: Library, clips: Sequence[Clip], *, yes: bool, json: bool) -> int:
    """Removes clips, after asking, and says which."""
    if not yes and not _agreed(clips):
        output.note("nothing was removed")
        return FAILED
    removed = []
    for clip in clips:
        removed.append(library.remove(clip.hash))
        if not json:
            output.line(f"{clip.name}: removed ({clip.hash[: library_view.HASH_DIGITS]}, "
                        f"{duration(clip.duration_s)})")  # fmt: skip
    if json:
        output.show_json({"removed": documents(removed)})
    return 0


def _agreed(clips: Sequence[Clip]) -> bool:
    """Asks, where there is somebody to answer."""
    what = "1 clip" if len(clips) == 1 else f"{len(clips)} clips"
    if sys.stdin is None or not sys.stdin.isatty() or not output.messages().is_terminal:
        raise UsageError(f"{what} would be removed, and there is no terminal to ask at: expected --yes")
    named = ", ".join(clip.name for clip in clips[:ASKED_ABOUT])
    more = f" and {len(clips) - ASKED_ABOUT} more" if len(clips) > ASKED_ABOUT else ""
    question = f"remove {what} from the library: {named}{more}? [y/N] "
    output.messages().print(Text(output.printable(question)), end="", soft_wrap=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def tell_faults(
    library: Library,
    faults: Sequence[Fault],
    sound: str,
    *,
    json: bool,
    quiet: bool = False,
    warnings: Sequence[str] | None = None,
) -> int:
    """What is wrong, or that all is ``sound``; the exit code."""
    told = [replace(fault, says=for_command_line(fault.says)) for fault in faults]
    left = [fault for fault in told if not fault.fixed]
    many = len(library)
    if json:
        more = {} if warnings is None else {"warnings": list(warnings)}
        output.show_json({"clips": many, "sound": not left, "faults": [asdict(fault) for fault in told]} | more)
        return FAILED if left else 0
    for fault in told:
        (output.note if fault.fixed else output.error)(str(fault))
    if not left and not quiet:
        output.line(f"{many:,} clip{'' if many == 1 else 's'}, all {sound}")
    return FAILED if left else 0


def export_clips(library: Library, folder: str, clips: Sequence[Clip], *, json: bool) -> int:
    """Writes clips as files, and says how many."""
    written = library.export(folder, clips)
    if json:
        files = [{"name": clip.name, "hash": clip.hash, "file": str(path)}
                 for clip, path in zip(clips, written, strict=True)]  # fmt: skip
        output.show_json({"folder": folder, "files": files})
    else:
        output.line(f"{folder}: {len(written):,} file{'' if len(written) == 1 else 's'}, "
                    f"{file_size(sum(clip.bytes for clip in clips))}")  # fmt: skip
    return 0
