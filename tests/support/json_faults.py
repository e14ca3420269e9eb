"""Replace members of a valid JSON document with wrong values."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

DELETED = object()


def replace_values(sound: dict, *paths_and_values) -> dict:
    """Return the valid document with some members replaced: path, value, path, value, ..."""
    document = copy.deepcopy(sound)
    for path, value in zip(paths_and_values[::2], paths_and_values[1::2], strict=True):
        *above, last = path
        target = document
        for step in above:
            target = target[step]
        if value is DELETED:
            del target[last]
        else:
            target[last] = value
    return document


def list_paths(node: object, path: tuple = ()) -> list[tuple]:
    """Return the paths of all members of a document, without the empty one."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    inner = [child_path for key, child in children for child_path in list_paths(child, (*path, key))]
    return [path, *inner] if path else inner


def any_values(words: list[str], names: list[str]) -> st.SearchStrategy:
    """Return a strategy for any JSON: numbers of all kinds, these words, lists, and objects with these names."""
    plain = st.none() | st.booleans() | st.integers(-3, 300) | st.integers() | st.floats() | st.sampled_from(words)
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(names), inner, max_size=3),
        max_leaves=12,
    )


def draw_wrong_document(data: st.DataObject, sound: dict, paths: list[tuple], values: st.SearchStrategy) -> dict:
    """Return the valid document with one to three members replaced by anything."""
    document = copy.deepcopy(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(paths))
        target = document
        for step in above:
            try:
                target = target[step]
            except (LookupError, TypeError):
                return document
        if isinstance(target, dict) or (isinstance(target, list) and isinstance(last, int) and last < len(target)):
            target[last] = data.draw(values)
    return document
