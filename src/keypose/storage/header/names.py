"""Joint names and parents, coded relative to those of common skeletons."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.storage.groups import CodingError
from keypose.storage.header.coder import Coder
from keypose.storage.header.common_names import INDEX_BITS, common_name_indices, common_names
from keypose.storage.header.texts import code_text

NEXT_NAME, NAME_AHEAD, NAME_BY_INDEX, NAME_AS_TEXT = range(4)  # how a name is coded
MAX_AHEAD = 30
MIN_PREFIX_LENGTH = 4  # of all names
MAX_SPELLED_JOINTS = 500  # with more joints, names are coded as long texts


def code_joint_names(
    c: Coder, count: int, names: Sequence[str] | None, parents: Sequence[int] | None
) -> tuple[list[str], list[int]]:
    """Code ``count`` names and the parent of each joint, -1 for a root."""
    prefix = _code_prefix(c, None if names is None else _common_prefix(min(names), max(names)))
    result_names: list[str] = []
    result_parents: list[int] = []
    joint_by_index: dict[int, int] = {}  # index of a common name -> joint with that name
    index, kind = -1, NEXT_NAME
    for j in range(count):
        next_names = None if names is None else [name[len(prefix) :] for name in names[j : j + MAX_AHEAD]]
        chosen_kind, chosen_index = (None, None) if next_names is None else _choose_name_coding(next_names, index)
        kind = c.code_symbol(("name", kind), 2, chosen_kind)
        if kind == NAME_AS_TEXT:
            name, expected_parent = (
                code_text(c, None if next_names is None else next_names[0], spell=count <= MAX_SPELLED_JOINTS),
                j - 1,
            )
        else:
            index = _code_name_index(c, kind, index, chosen_index)
            name, expected_parent = common_names()[index].name, _expected_parent(index, joint_by_index, j)
            joint_by_index[index] = j
        result_names.append(prefix + name)
        result_parents.append(_code_parent(c, j, expected_parent, None if parents is None else parents[j]))
    return result_names, result_parents


def _common_prefix(first: str, last: str) -> str:
    """Return the common prefix of all names, given the first and the last in alphabetical order."""
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: same.index(False)] if False in same else ""


def _code_prefix(c: Coder, common: str | None) -> str:
    has_prefix = c.code_flag("prefix", None if common is None else len(common) >= MIN_PREFIX_LENGTH)
    return code_text(c, common) if has_prefix else ""


def _code_name_index(c: Coder, kind: int, last_index: int, index: int | None) -> int:
    """Code the index of a common name."""
    if kind == NAME_BY_INDEX:
        result = c.code_plain(INDEX_BITS, index)
    else:
        result = (
            last_index
            + 1
            + (
                c.code_natural("ahead", None if index is None else index - last_index - 2) + 1
                if kind == NAME_AHEAD
                else 0
            )
        )
    if result >= len(common_names()):
        raise CodingError(f"name {result} of {len(common_names())} usual ones")
    return result


def _choose_name_coding(names: Sequence[str], last_index: int) -> tuple[int, int | None]:
    """Return how to code the first of ``names``, and its common index with the longest run of matching names."""
    candidates = [(place, _run_length(names, place)) for place in common_name_indices().get(names[0], ())]
    if not candidates:
        return NAME_AS_TEXT, None
    ahead = {place: length for place, length in candidates if last_index < place <= last_index + MAX_AHEAD}
    best, best_run = max(candidates, key=lambda option: option[1])
    nearest = max(ahead, key=lambda place: (ahead[place], -place), default=None)
    if nearest is not None and ahead[nearest] + 1 >= best_run:  # a near index is cheaper
        return (NEXT_NAME if nearest == last_index + 1 else NAME_AHEAD), nearest
    return NAME_BY_INDEX, best


def _run_length(names: Sequence[str], index: int) -> int:
    """Return how many of ``names`` match the common names from that index on."""
    common = common_names()[index : index + len(names)]
    matches = [word.name == name for word, name in zip(common, names, strict=False)]
    return matches.index(False) if False in matches else len(matches)


def _expected_parent(index: int, joint_by_index: dict[int, int], j: int) -> int:
    """Return the joint with the name of the common parent, else the previous joint."""
    back = common_names()[index].parent_distance
    return joint_by_index.get(index - back, j - 1) if back else j - 1


def _code_parent(c: Coder, j: int, expected: int, parent: int | None) -> int:
    if not c.code_flag("other parent", None if parent is None else parent != expected):
        return expected
    back = c.code_natural("back to the parent", None if parent is None else j - parent if parent >= 0 else 0)
    if back > j:
        raise CodingError(f"joint {j} hangs on the one {back} before it")
    return j - back if back else -1
