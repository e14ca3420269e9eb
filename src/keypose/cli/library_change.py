"""``keypose library tag``, ``rename``, ``describe`` and ``remove``: what is said of clips, and whether they are."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.library_options import ClipNames, Where
from keypose.cli.options import Json


def tag(
    *clips: ClipNames,
    add: Annotated[
        tuple[str, ...], Parameter(negative="", help="Give them these tags: a,b. May be given several times.")
    ] = (),
    remove: Annotated[
        tuple[str, ...], Parameter(negative="", help="Take these tags from them. May be given several times.")
    ] = (),
    library: Where = None,
    json: Json = False,
) -> int:
    """Give tags to clips of a library, or take them away.

    Tags are kept in lower case. A tag that a clip has already, or has not, is no
    error.

    For example:
      keypose library tag 02_01 02_02 --add walk,slow
      keypose library tag 02_01 --add "left hand" --remove walk
    """
    from keypose.cli import library_run
    from keypose.cli.keys_options import names_from
    from keypose.cli.library_options import named_clips, opened

    add, remove = names_from("--add", add), names_from("--remove", remove)
    if not add and not remove:
        raise UsageError("no tag named, expected --add or --remove, such as --add walk")
    if both := sorted(set(add) & set(remove)):
        raise UsageError(f"--add {both[0]} and --remove {both[0]} cannot both be meant")
    with opened(library) as here:
        return library_run.tag_clips(here, named_clips(here, clips), add, remove, json=json)


def rename(
    clip: Annotated[str, Parameter(name="CLIP", help="A clip of the library, by name or by hash.")],
    name: Annotated[str, Parameter(name="NAME", help="What it is called from now on.")],
    /,
    *,
    library: Where = None,
    json: Json = False,
) -> int:
    """Give a clip of a library another name.

    It can still be called by the name that it had, and by others under which the
    same content was added.

    For example:
      keypose library rename 02_01 "walk, slow"
      keypose library rename 3f9a01c2 walk_07
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import opened

    with opened(library) as here:
        return library_run.rename_clip(here, clip, name, json=json)


def describe(
    *clips: ClipNames,
    source: Annotated[str | None, Parameter(help="Where they come from.")] = None,
    licence: Annotated[str | None, Parameter(help="What may be done with them.")] = None,
    note: Annotated[str | None, Parameter(help="Anything else worth knowing.")] = None,
    library: Where = None,
    json: Json = False,
) -> int:
    """Say something else about clips of a library: source, licence, note.

    What is not given stays; an empty text, "", takes away what was said.

    For example:
      keypose library describe 02_01 02_02 --licence CC-BY-4.0
      keypose library describe 02_01 --source "studio B, take 7" --note ""
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import named_clips, opened

    if source is None and licence is None and note is None:
        raise UsageError("nothing said, expected --source, --licence or --note, such as --licence CC-BY-4.0")
    with opened(library) as here:
        chosen = named_clips(here, clips)
        return library_run.describe_clips(here, chosen, source=source, licence=licence, note=note, json=json)


def remove(
    *clips: ClipNames,
    yes: Annotated[bool, Parameter(negative="", alias="-y", help="Do not ask before.")] = False,
    library: Where = None,
    json: Json = False,
) -> int:
    """Remove clips and their bytes from a library.

    Files that they were added from stay. On a terminal it asks first; elsewhere
    it wants --yes. If one of the clips is not there, none is removed.

    For example:
      keypose library remove 02_01
      keypose library remove 02_01 02_02 --yes
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import named_clips, opened

    with opened(library) as here:
        return library_run.remove_clips(here, named_clips(here, clips), yes=yes, json=json)
