"""``keypose library tag``, ``rename``, ``describe`` and ``remove``: edit the metadata of clips, or remove clips."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.text import Text

from keypose.batch.file_discovery import suggest_name
from keypose.cli import library_inspect, output
from keypose.cli.library_options import ClipNames, LibraryOption, find_clips, open_library
from keypose.cli.options import Flags, Json, parse_names, with_flags
from keypose.cli.output import FAILED, UsageError, conflict_error, format_bytes, format_duration, missing_argument_error
from keypose.errors import OptionError, choose_text, format_count
from keypose.options.library import DescribeOptions

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.records import Clip, Fault

MAX_ROWS = 200  # of a list without --limit
MAX_CLIPS_FOR_SUGGESTIONS = 5000  # whose words are compared with one that no clip has
MAX_NAMES_IN_QUESTION = 10  # clips named when asking for confirmation


def tag(
    *clips: ClipNames,
    add: Annotated[
        tuple[str, ...], Parameter(negative="", help="Add these tags, such as walk,slow. May be given several times.")
    ] = (),
    remove: Annotated[
        tuple[str, ...], Parameter(negative="", help="Remove these tags. May be given several times.")
    ] = (),
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Add tags to clips of a library, or remove them.

    Tags are stored in lower case. Adding an existing tag, or removing one that a
    clip does not have, is no error.

    For example:
      keypose library tag 02_01 02_02 --add walk,slow
      keypose library tag 02_01 --add "left hand" --remove walk
    """
    add, remove = parse_names("--add", add), parse_names("--remove", remove)
    if not add and not remove:
        raise missing_argument_error("no tag named", "--add or --remove, such as --add walk")
    if both := sorted(set(add) & set(remove)):
        raise conflict_error("add", f"--remove {both[0]}", value=both[0])
    with open_library(library) as opened_library:
        return tag_clips(opened_library, find_clips(opened_library, clips), add, remove, json=json)


def rename(
    clip: Annotated[str, Parameter(name="CLIP", help="A clip of the library, by name or by hash.")],
    name: Annotated[str, Parameter(name="NAME", help="The new name.")],
    /,
    *,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Rename a clip of a library.

    The clip can still be found by its old name, and by other names under which the
    same content was added.

    For example:
      keypose library rename 02_01 "walk, slow"
      keypose library rename 3f9a01c2 walk_07
    """
    with open_library(library) as opened_library:
        return rename_clip(opened_library, clip, name, json=json)


@with_flags()
class MetadataFlags(Flags, DescribeOptions):
    """The metadata to change."""


DEFAULT_METADATA = MetadataFlags()


def describe(
    *clips: ClipNames,
    metadata: MetadataFlags = DEFAULT_METADATA,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Set the source, licence or note of clips of a library.

    Options that are not given leave their field unchanged; an empty text, "",
    clears it.

    For example:
      keypose library describe 02_01 02_02 --licence CC-BY-4.0
      keypose library describe 02_01 --source "studio B, take 7" --note ""
    """
    if not metadata.typed_options():
        raise missing_argument_error("nothing to change", "--source, --licence or --note, such as --licence CC-BY-4.0")
    with open_library(library) as opened_library:
        selected_clips = find_clips(opened_library, clips)
        return describe_clips(opened_library, selected_clips, **metadata.options(), json=json)


def remove(
    *clips: ClipNames,
    yes: Annotated[bool, Parameter(negative="", alias="-y", help="Do not ask for confirmation.")] = False,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Remove clips and their bytes from a library.

    The original files are not touched. On a terminal it asks for confirmation;
    elsewhere --yes is required. If one of the clips does not exist, none is
    removed.

    For example:
      keypose library remove 02_01
      keypose library remove 02_01 02_02 --yes
    """
    with open_library(library) as opened_library:
        return remove_clips(opened_library, find_clips(opened_library, clips), yes=yes, json=json)


def clip_document(clip: Clip) -> dict[str, Any]:
    """Return a clip as a JSON document."""
    return asdict(clip) | {"added_at": clip.added_at.isoformat()}


def clip_documents(clips: Sequence[Clip]) -> list[dict[str, Any]]:
    """Return clips as JSON documents."""
    return [clip_document(clip) for clip in clips]


def list_clips(library: Library, filters: Mapping[str, Any], limit: int | None, skip: int, *, json: bool) -> int:
    """Print clips as a table of at most MAX_ROWS rows if ``limit`` is None, or as JSON; return the exit code."""
    clips, count = library.clips(**filters, limit=limit, skip=skip), library.count(**filters)
    if json:
        output.print_json({"library": library.location, "count": count, "clips": clip_documents(clips)})
        return 0
    if not clips:
        output.print_line(
            f"no such clip in {library.location}"
            if not count
            else f"{format_count(count, 'clip', ',')}, all of them skipped"
        )
        print_unknown_filters(library, filters.get("words"), filters["tags"])
        return 0
    visible_clips = clips[:MAX_ROWS] if limit is None else clips
    output.print_renderable(library_inspect.clip_table(visible_clips, output.stdout_console().width))
    output.print_line(library_inspect.total_line(clips, count))
    if len(visible_clips) < len(clips):
        output.print_note(
            f"the first {len(visible_clips)} of {len(clips)} are shown; --limit shows more, words and --tag find fewer"
        )
    return 0


def print_unknown_filters(library: Library, words: str | None, tags: Sequence[str]) -> None:
    """Print a note for each word and each tag that no clip has, with a suggestion."""
    from keypose.library.rows import clean_tags, parse_query_words, search_words

    unknown_words = [] if words is None else [word for word in parse_query_words(words) if not library.count(word)]
    if unknown_words:
        clips = library.clips(limit=MAX_CLIPS_FOR_SUGGESTIONS)
        existing_words = sorted({word for clip in clips for word in search_words(clip)})
        for word in unknown_words:
            output.print_note(f"no clip has the word {word!r}{suggest_name(word, existing_words)}")
    existing_tags = {tag for tag, _ in library.tags()} if tags else set()
    for tag in clean_tags(tags):
        if tag not in existing_tags:
            output.print_note(f"no clip has the tag {tag!r}{suggest_name(tag, sorted(existing_tags))}")


def show_clips(library: Library, clips: Sequence[Clip], strip: Path | None, *, json: bool) -> int:
    """Print clips in detail; write the strip of the only clip to ``strip``."""
    if strip is not None:
        _save_strip(library, clips[0], strip)
    documents = []
    for n, clip in enumerate(clips):
        key_frames, swing_counts = library.key_frames(clip.hash), _count_swings(library, clip)
        action_counts = library.actions(clip.hash)
        if json:
            analysis = {"key_frames": list(key_frames), "swings": dict(swing_counts), "actions": action_counts}
            documents.append(clip_document(clip) | analysis)
            continue
        if n:
            output.print_line("")
        output.print_renderable(library_inspect.clip_block(clip, key_frames, swing_counts, action_counts))
    if json:
        output.print_json({"clips": documents, "strip": None if strip is None else str(strip)})
    elif strip is not None:
        output.print_line(f"{strip}: written")
    return 0


def _save_strip(library: Library, clip: Clip, target: Path) -> None:
    picture = library.strip(clip.hash)
    if picture is None:
        raise OptionError(
            format_count(clip.n_joints, "joint"), subject=clip.name, expected="fewer: its key poses were not drawn"
        )
    picture.save(target)


def _count_swings(library: Library, clip: Clip) -> list[tuple[str, int]]:
    """Return the number of swings per body part, largest first."""
    from keypose.library.search.swing_overlap import BODY_PARTS

    return Counter(BODY_PARTS[part] for part in library.swings(clip.hash).body_parts.tolist()).most_common()


def tag_clips(library: Library, clips: Sequence[Clip], add: Sequence[str], remove: Sequence[str], *, json: bool) -> int:
    """Add and remove tags, and print the tags of each clip."""
    from keypose.library.rows import clean_tags

    if remove and not json:
        existing_tags = sorted({tag for clip in clips for tag in clip.tags})
        for tag in clean_tags(remove):
            if tag not in existing_tags:
                output.print_note(f"none of them has the tag {tag!r}{suggest_name(tag, existing_tags)}")
    updated_clips = []
    for clip in clips:
        tagged = library.tag(clip.hash, *add) if add else clip
        updated_clips.append(library.untag(clip.hash, *remove) if remove else tagged)
        if not json:
            output.print_line(f"{clip.name}: {', '.join(updated_clips[-1].tags) or 'no tags'}")
    if json:
        output.print_json({"clips": clip_documents(updated_clips)})
    return 0


def rename_clip(library: Library, current: str, name: str, *, json: bool) -> int:
    """Rename a clip and print both names."""
    before = library.clip(current)
    after = library.rename(before.hash, name)
    others = [clip for clip in library.clips_named(after.name) if clip.hash != after.hash]
    if others and not json:
        other_count = "another clip is" if len(others) == 1 else f"{len(others)} other clips are"
        output.print_note(
            f"{other_count} called {after.name} too: {after.hash[: library_inspect.HASH_DIGITS]} is this one"
        )
    if json:
        output.print_json({"clip": clip_document(after), "old_name": before.name})
    else:
        output.print_line(f"{before.name}: renamed to {after.name}")
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
    """Change metadata of clips and print it."""
    updated_clips = [library.describe(clip.hash, source=source, licence=licence, note=note) for clip in clips]
    if json:
        output.print_json({"clips": clip_documents(updated_clips)})
        return 0
    for clip in updated_clips:
        fields = (("source", clip.source), ("licence", clip.licence), ("note", clip.note))
        description = ", ".join(f"{label} {text}" for label, text in fields if text)
        output.print_line(f"{clip.name}: {description or 'no source, licence or note'}")
    return 0


def remove_clips(library: Library, clips: Sequence[Clip], *, yes: bool, json: bool) -> int:
    """Remove clips after confirmation, and print them."""
    if not yes and not _confirm_removal(clips):
        output.print_note("nothing was removed")
        return FAILED
    removed_clips = []
    for clip in clips:
        removed_clips.append(library.remove(clip.hash))
        if not json:
            output.print_line(
                f"{clip.name}: removed ({clip.hash[: library_inspect.HASH_DIGITS]}, {format_duration(clip.duration_s)})"
            )
    if json:
        output.print_json({"removed": clip_documents(removed_clips)})
    return 0


def _confirm_removal(clips: Sequence[Clip]) -> bool:
    """Ask for confirmation on a terminal; raise UsageError elsewhere."""
    count_of_clips = format_count(len(clips), "clip")
    if sys.stdin is None or not sys.stdin.isatty() or not output.stderr_console().is_terminal:
        raise UsageError(
            f"{count_of_clips} would be removed, and there is no terminal to confirm it",
            code="missing_argument",
            expected="--yes",
        )
    names = ", ".join(clip.name for clip in clips[:MAX_NAMES_IN_QUESTION])
    more = f" and {len(clips) - MAX_NAMES_IN_QUESTION} more" if len(clips) > MAX_NAMES_IN_QUESTION else ""
    question = f"remove {count_of_clips} from the library: {names}{more}? [y/N] "
    output.stderr_console().print(Text(output.escape_unprintable(question)), end="", soft_wrap=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _fault_document(fault: Fault) -> dict[str, Any]:
    return asdict(fault) | {"hint": None if fault.hint is None else choose_text(fault.hint, "command")}


def report_faults(
    library: Library,
    faults: Sequence[Fault],
    sound: str,
    *,
    json: bool,
    quiet: bool = False,
    warnings: Sequence[str] | None = None,
) -> int:
    """Print faults, or that all clips are ``sound``; return the exit code."""
    unfixed = [fault for fault in faults if not fault.fixed]
    n_clips = len(library)
    if json:
        more = {} if warnings is None else {"warnings": list(warnings)}
        output.print_json(
            {"clips": n_clips, "sound": not unfixed, "faults": [_fault_document(fault) for fault in faults]} | more
        )
        return FAILED if unfixed else 0
    for fault in faults:
        (output.print_note if fault.fixed else output.print_error)(fault.render("command"))
    if not unfixed and not quiet:
        output.print_line(f"{format_count(n_clips, 'clip', ',')}, all {sound}")
    return FAILED if unfixed else 0


def export_clips(library: Library, folder: str, clips: Sequence[Clip], *, json: bool) -> int:
    """Export clips as files and print their number."""
    paths = library.export(folder, clips)
    if json:
        files = [
            {"name": clip.name, "hash": clip.hash, "file": str(path)} for clip, path in zip(clips, paths, strict=True)
        ]
        output.print_json({"folder": folder, "files": files})
    else:
        output.print_line(
            f"{folder}: {format_count(len(paths), 'file', ',')}, {format_bytes(sum(clip.bytes for clip in clips))}"
        )
    return 0
