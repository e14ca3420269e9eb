"""Reads one joint name: its side, its words, and what kind of joint they speak of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from keypose.anatomy import words as w

Kind = Literal["arm", "leg", "hips", "spine", "neck", "head", "root", "finger", "toe", "eye", "jaw", "face",
               "helper", "unknown"]  # fmt: skip

_NAMESPACE = ":|/"
MOST_LETTERS = 200  # a name is read no further; its cache stays small whatever files bring
# LHipJoint -> L Hip Joint, TLS -> TLS, upper_arm.L -> upper arm L, Finger01 -> Finger 01
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VERTEBRA = re.compile(r"([CTL])[0-9]{1,2}")

_WHOLE_NAMES: dict[str, Kind] = {
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
    """What a name says by itself."""

    side: str  # "left", "right" or ""
    kind: Kind
    key: str  # the words run together: the key of the vocabulary
    words: tuple[str, ...]  # without side, prefixes and numbers
    numbers: tuple[str, ...]  # as written, "01"
    spelled: str  # side, words and numbers in snake case


def read_name(name: str) -> Label:
    """The label of one joint name, by its first letters after the namespace."""
    whole = name.rstrip(_NAMESPACE)
    start = 1 + max(whole.rfind(mark) for mark in _NAMESPACE)
    return _read(whole[start:].strip()[:MOST_LETTERS])


@lru_cache(maxsize=8192)  # the same few hundred names come with every file
def _read(own: str) -> Label:
    vertebra = _VERTEBRA.fullmatch(own)
    if vertebra:
        return Label("", "neck" if vertebra[1] == "C" else "spine", own.lower(), (), (), own.lower())
    whole = own.strip("#").lower()
    if whole in w.OPENNI_HELPERS:
        side, what = w.OPENNI_HELPERS[whole]
        return Label(side, "helper", whole, (whole,), (), _snake(side, what.split("_")))
    tokens = _TOKEN.findall(own)
    side, tokens = _take_side(_without_prefix([t.lower() for t in tokens]))
    letters = tuple(t for t in tokens if not t.isdigit())
    key = "".join(letters)
    if not side and key not in w.KNOWN:
        side, key = _glued_side(key)
        if side:
            letters = (key,)
            tokens = [key, *(t for t in tokens if t.isdigit())]
    numbers = tuple(t for t in tokens if t.isdigit())
    # Biped calls its root by the bare prefix, Bip01.
    kind = "root" if not letters and whole.startswith("bip") else _kind(side, key, letters, bool(numbers))
    return Label(side, kind, key, letters, numbers, _snake(side, tokens))


def _without_prefix(tokens: list[str]) -> list[str]:
    """Tokens after an exporter's prefix (Bip01, CC_Base, mixamorig) and without words that mean nothing."""
    start = 0
    while start < len(tokens) and tokens[start] in w.PREFIXES:
        start += 1
        while start < len(tokens) and tokens[start].isdigit():
            start += 1
    return [t for t in tokens[start:] if t not in w.NOISE]


def _take_side(tokens: list[str]) -> tuple[str, list[str]]:
    """The side, from a word of its own anywhere in the name, and the other tokens."""
    for token in tokens:
        for side, marks in (("left", w.LEFT), ("right", w.RIGHT)):
            if token in marks:
                return side, [t for t in tokens if t not in marks]
    return "", tokens


def _glued_side(key: str) -> tuple[str, str]:
    """The side of lfemur or leftarm; only where a known word remains: lowerback and ring stay whole."""
    for mark, side in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
        for rest, fits in ((key.removeprefix(mark), True), (key.removesuffix(mark), len(mark) > 1)):
            if fits and rest != key and rest in w.KNOWN:
                return side, "hip" if rest == "hipjoint" else rest
    return "", key


def _kind(side: str, key: str, letters: tuple[str, ...], numbered: bool) -> Kind:
    if numbered and key == "palm":
        return "helper"  # one of several bones of the palm
    if numbered and key == "finger":
        return "finger"
    if key == "hip":
        return "leg" if side else "hips"
    if key in _WHOLE_NAMES:
        return _WHOLE_NAMES[key]
    of_finger = "finger" in letters or not w.FINGER_WORDS.keys().isdisjoint(letters)
    helper = w.HELPER_WORDS.intersection(letters)
    if helper and not (of_finger and helper == {"metacarpal"}):
        return "helper"
    if not w.FACE_WORDS.isdisjoint(letters):
        return "face"  # before the fingers: "mid" is also the middle of a brow
    if of_finger:
        return "finger"
    return "toe" if "toe" in letters else "unknown"


def _snake(side: str, tokens: list[str]) -> str:
    """left, [small, toe, 4, 2] -> left_small_toe4_2."""
    text = side
    for k, token in enumerate(tokens):
        joined = token.isdigit() and k > 0 and not tokens[k - 1].isdigit()
        text += token if joined or not text else f"_{token}"
    return text
