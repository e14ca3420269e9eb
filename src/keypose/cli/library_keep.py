"""``keypose library verify``, ``rebuild`` and ``export``: that nothing is lost."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.library_options import Blobs, LeastDuration, MostDuration, Tags, Where, Words
from keypose.cli.options import Jobs, Json
from keypose.cli.targets import Quiet


def verify(
    *,
    fix: Annotated[
        bool,
        Parameter(negative="", help="Remove what killed processes left, and make indexes anew that are wrong or gone."),
    ] = False,
    drop_orphans: Annotated[
        bool,
        Parameter(
            negative="", help="Remove bytes that belong to no clip. keypose library rebuild makes clips of them."
        ),
    ] = False,
    library: Where = None,
    json: Json = False,
) -> int:
    """Read all of a library and say whether it is sound.

    Every row and every byte is read and compared with its hash. What is wrong is
    named, with what mends it, and the exit code is 1; with --fix only if
    something is left that it could not mend.

    For example:
      keypose library verify
      keypose library verify --fix
      keypose library verify --library archive.db --json > verified.json
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import opened

    with opened(library) as here:
        faults = here.verify(fix=fix, drop_orphans=drop_orphans)
        return library_run.tell_faults(here, faults, "sound", json=json)


def rebuild(
    *, jobs: Jobs = None, library: Where = None, blobs: Blobs = None, json: Json = False, quiet: Quiet = False
) -> int:
    """Make all anew that a library can make from the bytes of its clips.

    Key poses, swings, descriptors and the index of words. Bytes that belong to no
    clip become clips again, named by their hashes: so a database that was lost
    comes back. Adding their files again gives them their names. Bytes that cannot
    be read are named, and then the exit code is 1.

    For example:
      keypose library rebuild
      keypose library rebuild --library archive.db --jobs 4
    """
    from keypose.cli import library_rebuild_run
    from keypose.cli.library_options import bytes_are_there, opened

    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    with opened(library, blobs, create=blobs is not None or bytes_are_there(library)) as here:
        return library_rebuild_run.run(here, jobs, json=json, quiet=quiet)


def export(
    folder: Annotated[str, Parameter(name="FOLDER", help="Where the files go. It is made if it is not there.")],
    /,
    *clips: Annotated[
        str, Parameter(name="CLIPS", help="Only these, by name or by hash. Otherwise all that the options choose.")
    ],
    words: Words = None,
    tag: Tags = (),
    least_duration_s: LeastDuration = None,
    most_duration_s: MostDuration = None,
    library: Where = None,
    json: Json = False,
) -> int:
    """Write clips of a library as files again, the very bytes that came.

    What was kept as .kps (AMC, and what was added with --within-mm) is written
    as .kps; keypose convert makes others of it. Files are named after the clips.
    One that is there already with the same bytes stays; one with others is
    refused.

    For example:
      keypose library export out/
      keypose library export out/ 02_01 02_02
      keypose library export walks/ --tag walk --words slow
    """
    from keypose.cli import library_run
    from keypose.cli.keys_options import names_from
    from keypose.cli.library_options import named_clips, opened, seconds_from

    if not folder:
        raise UsageError("an empty name, expected a folder; . is the current one")
    filtered = words is not None or tag or least_duration_s is not None or most_duration_s is not None
    if clips and filtered:
        raise UsageError("clips are named, and --words, --tag or a duration chooses some: expected one")
    tags = names_from("--tag", tag)
    with opened(library) as here:
        chosen = named_clips(here, clips) if clips else here.clips(
            words,
            tags=tags,
            least_duration_s=seconds_from("--least-duration-s", least_duration_s),
            most_duration_s=seconds_from("--most-duration-s", most_duration_s),
        )  # fmt: skip
        if not chosen and not json:
            library_run.say_unknown_tags(here, tags)
        return library_run.export_clips(here, folder, chosen, json=json)
