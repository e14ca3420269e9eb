"""Names of joints and who hangs on whom: mostly as one of the usual skeletons has them."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.storage.groups import CodingError
from keypose.storage.head.coder import Coder
from keypose.storage.head.texts import text
from keypose.storage.head.words import INDEX_BITS, places, words

NEXT, AHEAD, LISTED, SPELLED = range(4)  # how a name is found among the usual ones
FARTHEST_AHEAD = 30
SHORTEST_PREFIX = 4  # letters that all names begin with
MOST_SPELLED = 500  # of so many joints the names are spelled; those of more are kept apart


def joint_names(
    c: Coder, count: int, names: Sequence[str] | None, parents: Sequence[int] | None
) -> tuple[list[str], list[int]]:
    """So many names, and for each joint its parent, -1 for a root."""
    prefix = _prefix(c, None if names is None else _common(min(names), max(names)))
    found: list[str] = []
    above: list[int] = []
    joints: dict[int, int] = {}  # the place of a word -> the joint that has it
    place, kind = -1, NEXT
    for j in range(count):
        own = None if names is None else [name[len(prefix) :] for name in names[j : j + FARTHEST_AHEAD]]
        how, where = (None, None) if own is None else _how(own, place)
        kind = c.choice(("name", kind), 2, how)
        if kind == SPELLED:
            name, expected = text(c, None if own is None else own[0], spell=count <= MOST_SPELLED), j - 1
        else:
            place = _place(c, kind, place, where)
            name, expected = words()[place].name, _expected_parent(place, joints, j)
            joints[place] = j
        found.append(prefix + name)
        above.append(_parent(c, j, expected, None if parents is None else parents[j]))
    return found, above


def _common(first: str, last: str) -> str:
    """What all names begin with: those of the first and the last in the order of the alphabet do."""
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: same.index(False)] if False in same else ""


def _prefix(c: Coder, common: str | None) -> str:
    has_one = c.flag("prefix", None if common is None else len(common) >= SHORTEST_PREFIX)
    return text(c, common) if has_one else ""


def _place(c: Coder, kind: int, last: int, place: int | None) -> int:
    """The place of a name among the usual ones."""
    if kind == LISTED:
        found = c.plain(INDEX_BITS, place)
    else:
        found = last + 1 + (c.whole("ahead", None if place is None else place - last - 2) + 1 if kind == AHEAD else 0)
    if found >= len(words()):
        raise CodingError(f"name {found} of {len(words())} usual ones")
    return found


def _how(names: Sequence[str], last: int) -> tuple[int, int | None]:
    """How to say the first of ``names``, and its place among the usual ones: where most of the others follow it."""
    options = [(place, _run(names, place)) for place in places().get(names[0], ())]
    if not options:
        return SPELLED, None
    ahead = {place: length for place, length in options if last < place <= last + FARTHEST_AHEAD}
    best, longest = max(options, key=lambda option: option[1])
    near = max(ahead, key=lambda place: (ahead[place], -place), default=None)
    if near is not None and ahead[near] + 1 >= longest:  # what is near need not be as good
        return (NEXT if near == last + 1 else AHEAD), near
    return LISTED, best


def _run(names: Sequence[str], place: int) -> int:
    """How many of ``names`` follow each other from that place on."""
    following = words()[place : place + len(names)]
    matches = [word.name == name for word, name in zip(following, names, strict=False)]
    return matches.index(False) if False in matches else len(matches)


def _expected_parent(place: int, joints: dict[int, int], j: int) -> int:
    """The joint that has the name of the usual parent, else the joint before."""
    back = words()[place].back
    return joints.get(place - back, j - 1) if back else j - 1


def _parent(c: Coder, j: int, expected: int, parent: int | None) -> int:
    if not c.flag("other parent", None if parent is None else parent != expected):
        return expected
    back = c.whole("back to the parent", None if parent is None else j - parent if parent >= 0 else 0)
    if back > j:
        raise CodingError(f"joint {j} hangs on the one {back} before it")
    return j - back if back else -1
