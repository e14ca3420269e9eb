"""``keypose library tag``, ``rename``, ``describe`` and ``remove``: edit the metadata of clips, or remove clips."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.library_options import ClipNames, LibraryOption
from keypose.cli.options import Json


def tag(
    *clips: ClipNames,
    add: Annotated[
        tuple[str, ...], Parameter(negative="", help="Add these tags: a,b. May be given several times.")
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
    from keypose.cli import library_run
    from keypose.cli.library_options import find_clips, open_library
    from keypose.cli.option_parsers import parse_names

    add, remove = parse_names("--add", add), parse_names("--remove", remove)
    if not add and not remove:
        raise UsageError("no tag named, expected --add or --remove, such as --add walk")
    if both := sorted(set(add) & set(remove)):
        raise UsageError(f"--add {both[0]} and --remove {both[0]} cannot both be meant")
    with open_library(library) as opened_library:
        return library_run.tag_clips(opened_library, find_clips(opened_library, clips), add, remove, json=json)


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
    from keypose.cli import library_run
    from keypose.cli.library_options import open_library

    with open_library(library) as opened_library:
        return library_run.rename_clip(opened_library, clip, name, json=json)


def describe(
    *clips: ClipNames,
    source: Annotated[str | None, Parameter(help="The source of the clips.")] = None,
    licence: Annotated[str | None, Parameter(help="The licence of the clips.")] = None,
    note: Annotated[str | None, Parameter(help="Any other note on the clips.")] = None,
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
    from keypose.cli import library_run
    from keypose.cli.library_options import find_clips, open_library

    if source is None and licence is None and note is None:
        raise UsageError("nothing said, expected --source, --licence or --note, such as --licence CC-BY-4.0")
    with open_library(library) as opened_library:
        selected_clips = find_clips(opened_library, clips)
        return library_run.describe_clips(
            opened_library, selected_clips, source=source, licence=licence, note=note, json=json
        )


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
    from keypose.cli import library_run
    from keypose.cli.library_options import find_clips, open_library

    with open_library(library) as opened_library:
        return library_run.remove_clips(opened_library, find_clips(opened_library, clips), yes=yes, json=json)
