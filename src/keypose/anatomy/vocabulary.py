"""The vocabulary of joint names: possible meanings of each word.

Keys are words joined in lower case, without side and number: ``upperarm`` stands for ``UpperArm``, ``upper_arm`` and
``Upperarm``.
"""

from __future__ import annotations

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

# One of these among a name's words decides, unless the whole name is in a table above.
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
