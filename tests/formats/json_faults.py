"""Ways to make a sound JSON document wrong, member by member."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

DELETED = object()


def changed(sound: dict, *places_and_values) -> dict:
    """The sound document with some members replaced: place, value, place, value, ..."""
    made = copy.deepcopy(sound)
    for place, value in zip(places_and_values[::2], places_and_values[1::2], strict=True):
        *above, last = place
        target = made
        for step in above:
            target = target[step]
        if value is DELETED:
            del target[last]
        else:
            target[last] = value
    return made


def places_of(node: object, path: tuple = ()) -> list[tuple]:
    """Where all members of a document are, the document itself left out."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    inner = [place for key, child in children for place in places_of(child, (*path, key))]
    return [path, *inner] if path else inner


def any_values(words: list[str], names: list[str]) -> st.SearchStrategy:
    """Any JSON: numbers of all kinds, the given words, lists, and objects with the given names."""
    plain = st.none() | st.booleans() | st.integers(-3, 300) | st.integers() | st.floats() | st.sampled_from(words)
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(names), inner, max_size=3),
        max_leaves=12,
    )


def wrong_somewhere(data: st.DataObject, sound: dict, places: list[tuple], values: st.SearchStrategy) -> dict:
    """The sound document with one to three members replaced by anything."""
    made = copy.deepcopy(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(places))
        target = made
        for step in above:
            try:
                target = target[step]
            except (LookupError, TypeError):
                return made
        if isinstance(target, dict) or (isinstance(target, list) and isinstance(last, int) and last < len(target)):
            target[last] = data.draw(values)
    return made
