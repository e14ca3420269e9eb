"""Parse one joint name into side, words and kind of joint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from keypose.anatomy import vocabulary as w

Kind = Literal["arm", "leg", "hips", "spine", "neck", "head", "root", "finger", "toe", "eye", "jaw", "face",
               "helper", "unknown"]  # fmt: skip

_NAMESPACE = ":|/"
MAX_LETTERS = 200  # of a name; bounds the size of the cache
# LHipJoint -> L Hip Joint, TLS -> TLS, upper_arm.L -> upper arm L, Finger01 -> Finger 01
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VERTEBRA = re.compile(r"([CTL])[0-9]{1,2}")

_KIND_OF_KEY: dict[str, Kind] = {
    **dict.fromkeys(w.ARM_WORDS, "arm"),
    **dict.fromkeys(w.LEG_WORDS, "leg"),
    **dict.fromkeys(w.HIPS_WORDS, "hips"),
    **dict.fromkeys(w.SPINE_WORDS, "spine"),
    **dict.fromkeys(w.NECK_WORDS, "neck"),
    **dict.fromkeys(w.HEAD_WORDS, "head"),
    **dict.fromkeys(w.ROOT_WORDS, "root"),
    **dict.fromkeys(w.FINGER_WORDS, "finger"),
    **dict.fromkeys(w.EYE_WORDS, "eye"),
    **dict.fromkeys(w.JAW_WORDS, "jaw"),
}


@dataclass(frozen=True, slots=True)
class Label:
    """A parsed joint name."""

    side: str  # "left", "right" or ""
    kind: Kind
    key: str  # the words joined: the key of the vocabulary
    words: tuple[str, ...]  # without side, prefixes and numbers
    numbers: tuple[str, ...]  # as written, "01"
    snake_name: str  # side, words and numbers in snake case


def parse_name(name: str) -> Label:
    """Return the label of one joint name, from its first ``MAX_LETTERS`` letters after the namespace."""
    path = name.rstrip(_NAMESPACE)
    start = 1 + max(path.rfind(mark) for mark in _NAMESPACE)
    return _parse(path[start:].strip()[:MAX_LETTERS])


@lru_cache(maxsize=8192)  # most files use the same few hundred names
def _parse(name: str) -> Label:
    vertebra = _VERTEBRA.fullmatch(name)
    if vertebra:
        return Label("", "neck" if vertebra[1] == "C" else "spine", name.lower(), (), (), name.lower())
    lower_name = name.strip("#").lower()
    if lower_name in w.OPENNI_HELPERS:
        side, segment = w.OPENNI_HELPERS[lower_name]
        return Label(side, "helper", lower_name, (lower_name,), (), _to_snake_case(side, segment.split("_")))
    tokens = _TOKEN.findall(name)
    side, tokens = _take_side(_drop_prefix([t.lower() for t in tokens]))
    letters = tuple(t for t in tokens if not t.isdigit())
    key = "".join(letters)
    if not side and key not in w.KNOWN_KEYS:
        side, key = _split_glued_side(key)
        if side:
            letters = (key,)
            tokens = [key, *(t for t in tokens if t.isdigit())]
    numbers = tuple(t for t in tokens if t.isdigit())
    # The root of Biped is the bare prefix, Bip01.
    kind = "root" if not letters and lower_name.startswith("bip") else _classify(side, key, letters, bool(numbers))
    return Label(side, kind, key, letters, numbers, _to_snake_case(side, tokens))


def _drop_prefix(tokens: list[str]) -> list[str]:
    """Return the tokens without an exporter's prefix (Bip01, CC_Base, mixamorig) and without noise words."""
    start = 0
    while start < len(tokens) and tokens[start] in w.PREFIXES:
        start += 1
        while start < len(tokens) and tokens[start].isdigit():
            start += 1
    return [t for t in tokens[start:] if t not in w.NOISE]


def _take_side(tokens: list[str]) -> tuple[str, list[str]]:
    """Return the side, if it is a separate word anywhere in the name, and the other tokens."""
    for token in tokens:
        for side, marks in (("left", w.LEFT), ("right", w.RIGHT)):
            if token in marks:
                return side, [t for t in tokens if t not in marks]
    return "", tokens


def _split_glued_side(key: str) -> tuple[str, str]:
    """Return side and rest of lfemur or leftarm, only if the rest is a known word: lowerback and ring have no side."""
    for mark, side in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
        for rest, fits in ((key.removeprefix(mark), True), (key.removesuffix(mark), len(mark) > 1)):
            if fits and rest != key and rest in w.KNOWN_KEYS:
                return side, "hip" if rest == "hipjoint" else rest
    return "", key


def _classify(side: str, key: str, letters: tuple[str, ...], has_number: bool) -> Kind:
    if has_number and key == "palm":
        return "helper"  # one of several bones of the palm
    if has_number and key == "finger":
        return "finger"
    if key == "hip":
        return "leg" if side else "hips"
    if key in _KIND_OF_KEY:
        return _KIND_OF_KEY[key]
    is_finger = "finger" in letters or not w.FINGER_WORDS.keys().isdisjoint(letters)
    helper_words = w.HELPER_WORDS.intersection(letters)
    if helper_words and not (is_finger and helper_words == {"metacarpal"}):
        return "helper"
    if not w.FACE_WORDS.isdisjoint(letters):
        return "face"  # before the fingers: "mid" is also the middle of a brow
    if is_finger:
        return "finger"
    return "toe" if "toe" in letters else "unknown"


def _to_snake_case(side: str, tokens: list[str]) -> str:
    """Join tokens in snake case: left, [small, toe, 4, 2] -> left_small_toe4_2."""
    text = side
    for k, token in enumerate(tokens):
        joined = token.isdigit() and k > 0 and not tokens[k - 1].isdigit()
        text += token if joined or not text else f"_{token}"
    return text
