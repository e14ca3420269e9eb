"""Names and notes: spelled letter by letter where they are short, deflated together where they are long."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from keypose.storage.groups import CodingError
from keypose.storage.head.coder import EVEN, Coder, Start, learnt

LONGEST_SPELLED = 60  # bytes
LONGEST_TEXT = 1 << 24  # bytes
# What letters usually follow each other is learnt from this, as if it had been spelled before anything else.
SAMPLE = (
    "walk_01 run-02 Take 001 05_20 38_03_run-circle 49_06 02_07 131_04_dance-hop 86_01 jump_003 idle kick 2024-05-17 "
    "LeftHand RightFoot left_shoulder RightUpLeg.L Head_End Spine1 neck pelvis J_Bip_C_Hips thigh_r index_01_l mark_12"
)


def text(c: Coder, value: str | None, *, spell: bool = True) -> str:
    """A text of any characters, also halves of such, which names of other encodings hold."""
    data = None if value is None else value.encode("utf-8", "surrogatepass")
    long = c.flag("long text", None if data is None else not spell or len(data) > LONGEST_SPELLED)
    length = c.whole("letters", None if data is None else len(data))
    if length > (LONGEST_TEXT if long else LONGEST_SPELLED):
        raise CodingError(f"a text of {length} bytes")
    found = c.apart(length, data) if long else _spelled(c, length, data)
    try:
        return found.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CodingError(f"a text that is no UTF-8 ({error.reason})") from None


def _spelled(c: Coder, length: int, data: bytes | None) -> bytes:
    letters = bytearray()
    for k in range(length):
        context = ("letter", _kind(letters[-1]) if letters else 0)
        letters.append(c.choice(context, 8, None if data is None else data[k]))
    return bytes(letters)


def _kind(letter: int) -> int:
    """What a letter is, as far as it tells which may follow."""
    if 97 <= letter <= 122:
        return 1
    if 65 <= letter <= 90:
        return 2
    return 3 if 48 <= letter <= 57 else 4


@cache
def usual_letters() -> dict[Hashable, Start]:
    """What is known of letters before the first text: that of the sample's words."""
    known: dict[Hashable, Start] = {}
    for word in SAMPLE.encode().split():
        before = 0
        for letter in word:
            found = 1
            for k in reversed(range(8)):
                context, answer = (("letter", before), found), letter >> k & 1
                known[context] = learnt(*known.get(context, EVEN), answer)
                found = 2 * found + answer
            before = _kind(letter)
    return known
