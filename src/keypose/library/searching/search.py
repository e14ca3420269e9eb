"""The verbs: whole clips, parts, poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keypose.library.extra import sa
from keypose.library.filters import Filters
from keypose.library.searching.asking import Asked, ask, frames_asked, pose_numbers
from keypose.library.searching.body_parts import named
from keypose.library.searching.finders import ByDescriptors, BySwings, ByTracks, Finder, enough
from keypose.library.searching.folding import folded
from keypose.library.searching.found import Found, hits_of
from keypose.library.searching.hits import Hit
from keypose.library.searching.posing import ByPose
from keypose.library.searching.shelf import Shelf
from keypose.library.store import Store
from keypose.model import Motion
from keypose.options import flag, one_of, whole

ANY = Filters()
RANKERS = ("descriptors", "swings")
MOST_HITS = 1_000_000


def search(
    store: Store,
    shelf: Shelf,
    query: Motion | str,
    *,
    limit: int = 10,
    filters: Filters = ANY,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    ranker: str = "descriptors",
    fold: bool = True,
) -> tuple[Hit, ...]:
    """Whole clips that are like ``query``, the nearest first; a text is a clip of the library, which is left out.

    ``joints``: only these parts of the body count; then clips are compared in time, the query slid along them, as
    ``search_part`` does. ``ranker="swings"`` is the thesis's way. ``mirrored``: also what is like it with left and
    right exchanged. ``fold``: copies of one take are one hit.
    """
    names = named(joints)
    both = flag("mirrored", mirrored)
    asked = ask(store, query)
    finder: Finder
    if one_of("ranker", ranker, RANKERS) == "swings":
        finder = BySwings(asked, both, names)
    elif names is None:
        finder = ByDescriptors(asked, both)
    else:
        finder = ByTracks(asked, both, names, 0.0, asked.duration_s)
    return hits(asked, finder, shelf, filters, _most(limit), fold=flag("fold", fold), joints=names)


def search_part(
    store: Store,
    shelf: Shelf,
    query: Motion | str,
    start: int,
    end: int,
    *,
    limit: int = 10,
    filters: Filters = ANY,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    several: bool = False,
    fold: bool = True,
) -> tuple[Hit, ...]:
    """Where in which clips the frames ``query[start:end]`` happen, the nearest first.

    One place of a clip, or ``several`` that do not overlap. A clip of the library as the query is left out.
    """
    names = named(joints)
    asked = ask(store, query)
    first, stop = frames_asked(start, end, asked.n_frames)
    fps = asked.fps
    finder = ByTracks(asked, flag("mirrored", mirrored), names, first / fps, stop / fps, flag("several", several))
    return hits(asked, finder, shelf, filters, _most(limit), fold=flag("fold", fold), joints=names)


def search_pose(
    store: Store,
    shelf: Shelf,
    query: Motion | str,
    frame: int,
    *,
    limit: int = 10,
    filters: Filters = ANY,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    several: bool = False,
    fold: bool = True,
    numbers: Sequence[float] | None = None,
) -> tuple[Hit, ...]:
    """Poses like that of a ``frame`` of the query, whatever the heading and the place; the nearest first.

    One pose of a clip, or ``several`` that are a second apart. A clip of the library as the query is left out.
    ``numbers``: what ``numbers_of_pose`` said of it; then no bytes are read.
    """
    names = named(joints)
    asked = ask(store, query)
    if numbers is not None:
        asked = replace(asked, numbers=pose_numbers(numbers))
    at = whole("frame", frame, least=0, most=asked.n_frames - 1)
    finder = ByPose(asked, at, flag("mirrored", mirrored), names, flag("several", several))
    return hits(asked, finder, shelf, filters, _most(limit), fold=flag("fold", fold), joints=names)


def numbers_of_pose(store: Store, query: Motion | str, frame: int) -> tuple[float, ...]:
    """What a search by the pose of a ``frame`` compares."""
    asked = ask(store, query)
    at = whole("frame", frame, least=0, most=asked.n_frames - 1)
    return tuple(asked.pose(at).tolist())


def _most(limit: int) -> int:
    return whole("limit", limit, least=1, most=MOST_HITS)


def hits(
    asked: Asked,
    finder: Finder,
    shelf: Shelf,
    filters: Filters,
    limit: int,
    *,
    fold: bool,
    joints: tuple[str, ...] | None = None,
) -> tuple[Hit, ...]:
    """What a finder finds, copies folded into the better hit, at most ``limit``; ``joints``: what hits may tell of."""
    chosen = filters.chosen(asked.store.database.dialect)
    keep = enough(limit)
    with asked.store.database.reading() as connection:
        while True:
            found = finder.candidates(connection, shelf, chosen, keep)
            others = [each for each in found if each.number != asked.number]
            wanted, copies = _folded(connection, shelf, others, limit) if fold else (others[:limit], {})
            if len(wanted) == limit or len(found) < keep:
                return hits_of(connection, shelf, asked, finder.explained(connection, shelf, wanted), copies, joints)
            keep *= 4


def _folded(
    connection: sa.Connection, shelf: Shelf, found: Sequence[Found], limit: int
) -> tuple[list[Found], dict[int, tuple[int, ...]]]:
    """The first hits, and the copies of each."""
    groups = folded((each.number for each in found), lambda numbers: shelf.tracks(connection, numbers), limit)
    copies = {number: group for number, group in groups.items() if group}
    return [each for each in found if each.number in groups][:limit], copies
