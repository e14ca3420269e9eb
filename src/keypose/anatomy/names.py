"""Parse one joint name into side, words and kind of joint; the tables define the words of all exporters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

# The segments of a limb from the body outwards.
ARM = ("collar", "upper_arm", "forearm", "hand", "palm", "fingers")
LEG = ("hip_joint", "thigh", "shin", "foot", "toes")
LIMBS = {"arm": ARM, "leg": LEG}


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _map_words(words: str, meaning: dict[str, int]) -> dict[str, dict[str, int]]:
    return dict.fromkeys(words.split(), meaning)


# Possible segments of a word, with scores. Alternatives are decided along the limb, where segments follow each other in
# anatomical order: LeftShoulder is the collar if a LeftArm follows it, the upper arm if a LeftElbow does. A word with
# one meaning scores higher than an ambiguous one.
CERTAIN = 12
ARM_WORDS: dict[str, dict[str, int]] = {
    **_map_words("collar clavicle clav scapula", {"collar": CERTAIN}),
    **_map_words("shoulder shldr", {"upper_arm": 10, "collar": 8}),
    **_map_words("arm", {"upper_arm": 10, "forearm": 9, "hand": 7}),
    **_map_words("upperarm uparm uarm humerus", {"upper_arm": CERTAIN}),
    **_map_words("forearm lowerarm lowarm farm elbow radius", {"forearm": CERTAIN}),
    **_map_words("wrist", {"hand": CERTAIN}),
    **_map_words("hand", {"hand": 10, "palm": 8}),
    **_map_words("palm fingerbase", {"palm": CERTAIN}),
    **_map_words("finger fingers", {"fingers": CERTAIN}),
}
LEG_WORDS: dict[str, dict[str, int]] = {
    **_map_words("hip buttock", {"thigh": 10, "hip_joint": 8}),
    **_map_words("thigh upleg upperleg uleg femur", {"thigh": CERTAIN}),
    **_map_words("leg", {"thigh": 10, "shin": 9, "foot": 7, "toes": 6}),
    **_map_words("shin shank lowerleg lowleg calf tibia knee", {"shin": CERTAIN}),
    **_map_words("ankle", {"foot": CERTAIN}),
    **_map_words("foot", {"foot": 10, "toes": 8}),
    **_map_words("toe toes toebase ball ballfoot forefoot", {"toes": CERTAIN}),
}
# Words that may name a joint between the trunk and the limb.
GIRDLE_KEYS = frozenset(
    key for key, meaning in {**ARM_WORDS, **LEG_WORDS}.items() if not meaning.keys().isdisjoint(("collar", "hip_joint"))
)

# The middle of the body. A lone "hip" is the hips; "lhip" is found in LEG_WORDS.
HIPS_WORDS = _word_set("hips hip pelvis hipcenter spinebase")
SPINE_WORDS = _word_set(
    """
    spine lowerback upperback back lumbar thorax thoracic sternum ribcage abdomen abdomenlower
    abdomenupper ab belly stomach waist chest lowerchest upperchest chestlower chestupper torso
    lowertorso uppertorso trunk spinemid spinenavel spinechest spineshoulder shouldercenter
    """
)
NECK_WORDS = _word_set("neck lowerneck upperneck necklower neckupper necktwist")
HEAD_WORDS = frozenset({"head", "skull"})
# Joints above the hips; the hips themselves if there are no others (ASF calls them root).
ROOT_WORDS = _word_set("root rootnode boneroot reference armature zup body com cog")

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
FINGER_WORDS = {**{f: f for f in FINGERS}, "mid": "middle", "little": "pinky", "pinkie": "pinky"}
METACARPAL_WORDS = frozenset({"metacarpal", "in", "start"})  # HandIndexStart, InHandIndex

EYE_WORDS = frozenset({"eye", "eyeball", "faceeye"})
JAW_WORDS = frozenset({"jaw", "lowerjaw", "jawroot"})

# A name that contains one of these words is a face joint or a helper, unless the whole name is in a table above.
FACE_WORDS = _word_set(
    """
    face facial brow eyebrow eyelid lid eyelash lash nose nostril cheek lip mouth jaw chin tongue
    teeth ear squint nasolabial forehead eye
    """
)
HELPER_WORDS = _word_set(
    """
    twist roll nub end tip ik fk pole target ctrl control effector helper share corrective offset
    dummy prop weapon gun attach socket footsteps handtip breast pectoral bust hair ponytail skirt tail xtra
    carpal metacarpal heel metatarsal metatarsals
    """
)
# A joint whose body part contains one of these words deforms the skin between limbs or controls other joints: no limb
# leads to it.
AUXILIARY_WORDS = (
    "twist",
    "roll",
    "helper",
    "target",
    "pole",
    "ctrl",
    "control",
    "share",
    "breast",
    "pectoral",
    "ribs",
)
TAIL = "tail"

# OpenNI names the empty joints between torso and limbs T (torso), side, S (shoulder), H (hip), N (neck).
OPENNI_HELPERS = {
    "tls": ("left", "shoulder_offset"),
    "trs": ("right", "shoulder_offset"),
    "tlh": ("left", "hip_offset"),
    "trh": ("right", "hip_offset"),
    "tn": ("", "neck_offset"),
}

# Words without meaning for the body: prefixes with the number after them, and noise anywhere in a name.
PREFIXES = _word_set(
    """
    mixamorig bip valve biped cc base character skeleton robot actor subject j b bn def org mch sk m
    f avg adj sec rig
    """
)
NOISE = _word_set("joint jnt bone bend c bind skin smplhf")

LEFT = frozenset({"l", "left"})
RIGHT = frozenset({"r", "right"})

# Keys that may have a side attached: lfemur, rclavicle.
KNOWN_KEYS = frozenset(
    {*ARM_WORDS, *LEG_WORDS, *HIPS_WORDS, *SPINE_WORDS, *NECK_WORDS, *HEAD_WORDS, *ROOT_WORDS, *FINGER_WORDS}
    | EYE_WORDS
    | JAW_WORDS
    | {"hipjoint"}
)


Kind = Literal["arm", "leg", "hips", "spine", "neck", "head", "root", "finger", "toe", "eye", "jaw", "face",
               "helper", "unknown"]  # fmt: skip

_NAMESPACE = ":|/"
MAX_LETTERS = 200  # of a name; limits the size of the cache
# LHipJoint -> L Hip Joint, TLS -> TLS, upper_arm.L -> upper arm L, Finger01 -> Finger 01
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_VERTEBRA = re.compile(r"([CTL])[0-9]{1,2}")

_KIND_OF_KEY: dict[str, Kind] = {
    **dict.fromkeys(ARM_WORDS, "arm"),
    **dict.fromkeys(LEG_WORDS, "leg"),
    **dict.fromkeys(HIPS_WORDS, "hips"),
    **dict.fromkeys(SPINE_WORDS, "spine"),
    **dict.fromkeys(NECK_WORDS, "neck"),
    **dict.fromkeys(HEAD_WORDS, "head"),
    **dict.fromkeys(ROOT_WORDS, "root"),
    **dict.fromkeys(FINGER_WORDS, "finger"),
    **dict.fromkeys(EYE_WORDS, "eye"),
    **dict.fromkeys(JAW_WORDS, "jaw"),
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
    if lower_name in OPENNI_HELPERS:
        side, segment = OPENNI_HELPERS[lower_name]
        return Label(side, "helper", lower_name, (lower_name,), (), _to_snake_case(side, segment.split("_")))
    tokens = _TOKEN.findall(name)
    side, tokens = _take_side(_drop_prefix([t.lower() for t in tokens]))
    letters = tuple(t for t in tokens if not t.isdigit())
    key = "".join(letters)
    if not side and key not in KNOWN_KEYS:
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
    while start < len(tokens) and tokens[start] in PREFIXES:
        start += 1
        while start < len(tokens) and tokens[start].isdigit():
            start += 1
    return [t for t in tokens[start:] if t not in NOISE]


def _take_side(tokens: list[str]) -> tuple[str, list[str]]:
    """Return the side, if it is a separate word anywhere in the name, and the other tokens."""
    for token in tokens:
        for side, marks in (("left", LEFT), ("right", RIGHT)):
            if token in marks:
                return side, [t for t in tokens if t not in marks]
    return "", tokens


def _split_glued_side(key: str) -> tuple[str, str]:
    """Return side and rest of lfemur or leftarm, only if the rest is a known word: lowerback and ring have no side."""
    for mark, side in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
        for rest, fits in ((key.removeprefix(mark), True), (key.removesuffix(mark), len(mark) > 1)):
            if fits and rest != key and rest in KNOWN_KEYS:
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
    is_digit = "finger" in letters or not FINGER_WORDS.keys().isdisjoint(letters)
    is_toe = any(word.endswith("toe") for word in letters) or (is_digit and "foot" in letters)  # PinkyToe1, FootIndex1
    is_finger = is_digit and not is_toe
    helper_words = HELPER_WORDS.intersection(letters)
    if helper_words and not (is_finger and helper_words == {"metacarpal"}):
        return "helper"
    if not FACE_WORDS.isdisjoint(letters):
        return "face"  # before the fingers: "mid" is also the middle of a brow
    if is_finger:
        return "finger"
    return "toe" if is_toe else "unknown"


def _to_snake_case(side: str, tokens: list[str]) -> str:
    """Join tokens in snake case: left, [small, toe, 4, 2] -> left_small_toe4_2."""
    text = side
    for k, token in enumerate(tokens):
        joined = token.isdigit() and k > 0 and not tokens[k - 1].isdigit()
        text += token if joined or not text else f"_{token}"
    return text
