"""Names and notes: short ones coded letter by letter, long ones deflated together."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from keypose.storage.groups import CodingError
from keypose.storage.header.coder import EVEN_START, BitModel, Coder, update_model

MAX_SPELLED_BYTES = 60  # bytes
MAX_TEXT_BYTES = 1 << 24  # bytes
# The initial letter models are trained on this text, as if it had been coded first.
SAMPLE = (
    "walk_01 run-02 Take 001 05_20 38_03_run-circle 49_06 02_07 131_04_dance-hop 86_01 jump_003 idle kick 2024-05-17 "
    "LeftHand RightFoot left_shoulder RightUpLeg.L Head_End Spine1 neck pelvis J_Bip_C_Hips thigh_r index_01_l mark_12"
)


def code_text(c: Coder, value: str | None, *, spell: bool = True) -> str:
    """Code a text of any characters, including lone surrogates from names in other encodings."""
    data = None if value is None else value.encode("utf-8", "surrogatepass")
    is_long = c.code_flag("long text", None if data is None else not spell or len(data) > MAX_SPELLED_BYTES)
    length = c.code_natural("letters", None if data is None else len(data))
    if length > (MAX_TEXT_BYTES if is_long else MAX_SPELLED_BYTES):
        raise CodingError(f"a text of {length} bytes")
    result = c.code_text_bytes(length, data) if is_long else _code_letters(c, length, data)
    try:
        return result.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CodingError(f"a text that is no UTF-8 ({error.reason})") from None


def _code_letters(c: Coder, length: int, data: bytes | None) -> bytes:
    letters = bytearray()
    for k in range(length):
        context = ("letter", _letter_class(letters[-1]) if letters else 0)
        letters.append(c.code_symbol(context, 8, None if data is None else data[k]))
    return bytes(letters)


def _letter_class(letter: int) -> int:
    """Return the class of a letter, which is the context of the next one."""
    if 97 <= letter <= 122:
        return 1
    if 65 <= letter <= 90:
        return 2
    return 3 if 48 <= letter <= 57 else 4


@cache
def initial_letter_models() -> dict[Hashable, BitModel]:
    """Return the letter models after coding the words of the sample."""
    models: dict[Hashable, BitModel] = {}
    for word in SAMPLE.encode().split():
        letter_class = 0
        for letter in word:
            prefix = 1
            for k in reversed(range(8)):
                context, bit = (("letter", letter_class), prefix), letter >> k & 1
                models[context] = update_model(*models.get(context, EVEN_START), bit)
                prefix = 2 * prefix + bit
            letter_class = _letter_class(letter)
    return models
