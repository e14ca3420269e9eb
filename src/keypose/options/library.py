"""Options of libraries: which clips are selected, how they are searched for, and how they are added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from keypose.options import MAX_TOLERANCE_MM, MIN_TOLERANCE_MM, JobOptions, LoadKeywords, Option

Ranker: TypeAlias = Literal["descriptors", "swings"]
Sort: TypeAlias = Literal["name", "newest", "longest", "shortest"]

MAX_ROWS = 2**62  # limit of databases
MAX_HITS = 1_000_000

_LICENCE, _NOTE = Option("The licence of the clips."), Option("Any other note on the clips.")


@dataclass(frozen=True)
class ClipFilterOptions:
    """Which clips of a library are selected."""

    words: Annotated[
        str | None, Option("Only clips with all these words, or starts of words, in their names or tags.")
    ] = None
    tags: Annotated[
        tuple[str, ...],
        Option(
            "Only clips with all these tags.",
            flag="--tag",
            flag_help="Only clips with all these tags, such as walk,slow. May be given several times.",
        ),
    ] = ()
    min_duration_s: Annotated[float | None, Option("Minimum duration of clips, in seconds.", min_value=0.0)] = None
    max_duration_s: Annotated[float | None, Option("Maximum duration of clips, in seconds.", min_value=0.0)] = None
    skeleton: Annotated[str | None, Option("Only clips of the rig with this hash.")] = None
    action: Annotated[str | None, Option("Only clips with this action, such as kick, turn left or jump.")] = None


@dataclass(frozen=True)
class ListFilterOptions(ClipFilterOptions):
    """Which clips are listed or counted."""

    body_part: Annotated[str | None, Option("Only clips in which this body part swings widely.")] = None


@dataclass(frozen=True)
class ListOptions(ListFilterOptions):
    """Which clips are listed, and in which order."""

    sort: Annotated[Sort, Option("By name, or the newest, longest or shortest clips first.")] = "name"
    limit: Annotated[
        int | None,
        Option(
            "Maximum number of clips.",
            flag_help="Number of clips to show. Default: 200, and with --json all.",
            min_value=0,
            max_value=MAX_ROWS,
        ),
    ] = None
    skip: Annotated[int, Option("Number of clips to skip at the start.", min_value=0, max_value=MAX_ROWS)] = 0


@dataclass(frozen=True)
class CommonSearchOptions(ClipFilterOptions):
    """The options of every search by example."""

    joints: Annotated[str | tuple[str, ...] | None, Option("Compare only these body parts, such as arms,left_leg.")] = (
        None
    )
    mirrored: Annotated[
        bool,
        Option(
            "Match motions with left and right exchanged, too.",
            flag="--no-mirror",
            flag_help="Do not match motions with left and right exchanged.",
        ),
    ] = True
    limit: Annotated[int, Option("Maximum number of hits.", min_value=1, max_value=MAX_HITS)] = 10
    deduplicate: Annotated[
        bool,
        Option(
            "Show near-duplicates as one hit.",
            flag="--no-deduplicate",
            flag_help="Show near-duplicates as separate hits.",
        ),
    ] = True


@dataclass(frozen=True)
class ClipSearchOptions(CommonSearchOptions):
    """How whole clips are searched for."""

    ranker: Annotated[Ranker, Option("Compare whole clips by descriptors, or by their swings.")] = "descriptors"


@dataclass(frozen=True)
class SpanSearchOptions(CommonSearchOptions):
    """How a part of a clip, or a pose, is searched for."""

    multiple: Annotated[
        bool,
        Option(
            "Return several spans of one clip, not only the best.",
            flag_help="With --part or --pose: return several spans of one clip, not only the best.",
        ),
    ] = False


@dataclass(frozen=True)
class SearchOptions(SpanSearchOptions, ClipSearchOptions):
    """The options of all searches."""


@dataclass(frozen=True)
class DescribeOptions:
    """The metadata of clips; None: unchanged."""

    source: Annotated[str | None, Option("The source of the clips.")] = None
    licence: Annotated[str | None, _LICENCE] = None
    note: Annotated[str | None, _NOTE] = None


@dataclass(frozen=True)
class AddOptions:
    """How a file or a motion is added."""

    tags: Annotated[
        tuple[str, ...],
        Option("Add these tags to all clips, such as walk,slow. May be given several times.", flag="--tag"),
    ] = ()
    source: Annotated[str | None, Option("The source of the clips. Default: each file's path.")] = None
    licence: Annotated[str, _LICENCE] = ""
    note: Annotated[str, _NOTE] = ""
    tolerance_mm: Annotated[
        float | None,
        Option(
            "Store compressed .kps files within this error on a figure of 1.7 m instead of the original bytes. "
            "Default: store every byte; for files that need others beside them (AMC, some glTF), every number, as "
            ".kps.",
            min_value=MIN_TOLERANCE_MM,
            max_value=MAX_TOLERANCE_MM,
        ),
    ] = None


@dataclass(frozen=True)
class IngestOptions(JobOptions, AddOptions):
    """How several files and folders are added."""

    engine: Annotated[
        str | None, Option("Run on a Dask cluster, such as dask://host:8786. Default: processes on this machine.")
    ] = None
    tag_folders: Annotated[bool, Option("Add the names of each clip's folders, below the given one, as tags.")] = False


class AddKeywords(LoadKeywords, total=False):
    """The fields of AddOptions, and how files are read, for overloads of ``Library.add``."""

    tags: Iterable[str]
    source: str | None
    licence: str
    note: str
    tolerance_mm: float | None
