"""Joint names, parents and other text of a header, coded relative to common names.

Part of the format, see docs/kps.md.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import cache
from typing import NamedTuple

from keypose.storage.groups import CodingError
from keypose.storage.header.coder import EVEN_START, BitModel, Coder, update_model

NEXT_NAME, NAME_AHEAD, NAME_BY_INDEX, NAME_AS_TEXT = range(4)  # how a name is coded
MAX_AHEAD = 30
MIN_PREFIX_LENGTH = 4  # of all names
MAX_SPELLED_JOINTS = 500  # with more joints, names are coded as long texts

MAX_SPELLED_BYTES = 60  # bytes
MAX_TEXT_BYTES = 1 << 24  # bytes
# The initial letter models are those after coding this text.
SAMPLE = (
    "walk_01 run-02 Take 001 05_20 38_03_run-circle 49_06 02_07 131_04_dance-hop 86_01 jump_003 idle kick 2024-05-17 "
    "LeftHand RightFoot left_shoulder RightUpLeg.L Head_End Spine1 neck pelvis J_Bip_C_Hips thigh_r index_01_l mark_12"
)

INDEX_BITS = 9  # of the index of a name


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
                code_text(c, None if next_names is None else next_names[0], by_letters=count <= MAX_SPELLED_JOINTS),
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
    """Return how to code the first of ``names``, and of its common indices the one with the longest run of matching
    names."""
    candidates = [(place, _run_length(names, place)) for place in common_name_indices().get(names[0], ())]
    if not candidates:
        return NAME_AS_TEXT, None
    ahead = {place: length for place, length in candidates if last_index < place <= last_index + MAX_AHEAD}
    best, best_run = max(candidates, key=lambda option: option[1])
    nearest = max(ahead, key=lambda place: (ahead[place], -place), default=None)
    if nearest is not None and ahead[nearest] + 1 >= best_run:  # a near index needs fewer bits
        return (NEXT_NAME if nearest == last_index + 1 else NAME_AHEAD), nearest
    return NAME_BY_INDEX, best


def _run_length(names: Sequence[str], index: int) -> int:
    """Return how many of ``names`` match the common names from that index on."""
    common = common_names()[index : index + len(names)]
    matches = [word.name == name for word, name in zip(common, names, strict=False)]
    return matches.index(False) if False in matches else len(matches)


def _expected_parent(index: int, joint_by_index: dict[int, int], j: int) -> int:
    """Return the joint that has the name of the common parent, else the previous joint."""
    back = common_names()[index].parent_distance
    return joint_by_index.get(index - back, j - 1) if back else j - 1


def _code_parent(c: Coder, j: int, expected: int, parent: int | None) -> int:
    if not c.code_flag("other parent", None if parent is None else parent != expected):
        return expected
    back = c.code_natural("back to the parent", None if parent is None else j - parent if parent >= 0 else 0)
    if back > j:
        raise CodingError(f"joint {j} hangs on the one {back} before it")
    return j - back if back else -1


def code_text(c: Coder, value: str | None, *, by_letters: bool = True) -> str:
    """Code a text of any characters, including lone surrogates from names in other encodings."""
    data = None if value is None else value.encode("utf-8", "surrogatepass")
    is_long = c.code_flag("long text", None if data is None else not by_letters or len(data) > MAX_SPELLED_BYTES)
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


class CommonName(NamedTuple):
    """A common name, and the distance back to its parent; 0: a root."""

    name: str
    parent_distance: int


@cache
def common_names() -> tuple[CommonName, ...]:
    """Return all common names in order."""
    names: list[CommonName] = []
    open_parents: list[int] = []
    for token in re.findall(r"[^\s()]+|[()]", SKELETONS):
        if token == "(":
            open_parents.append(len(names) - 1)
        elif token == ")":
            open_parents.pop()
        else:
            names.append(CommonName(token, len(names) - open_parents[-1] if open_parents else 0))
    return tuple(names)


@cache
def common_name_indices() -> dict[str, tuple[int, ...]]:
    """Return the indices of each common name."""
    result: dict[str, tuple[int, ...]] = {}
    for index, common_name in enumerate(common_names()):
        result[common_name.name] = (*result.get(common_name.name, ()), index)
    return result


# Skeletons of CMU (BVH, 3ds Max, ASF), MotionBuilder and Mixamo, LAFAN1 and the like, Xsens, Rokoko, SMPL, Unreal, VRM,
# DAZ and Poser, OptiTrack, Kinect.
SKELETONS = """
Hips(LHipJoint(LeftUpLeg(LeftLeg(LeftFoot(LeftToeBase)))) RHipJoint(RightUpLeg(RightLeg(RightFoot(RightToeBase))))
LowerBack(Spine(Spine1(Neck(Neck1(Head))
LeftShoulder(LeftArm(LeftForeArm(LeftHand(LeftFingerBase(LeftHandIndex1) LThumb))))
RightShoulder(RightArm(RightForeArm(RightHand(RightFingerBase(RightHandIndex1) RThumb))))))))
Hips(LHipJoint(LeftHip(LeftKnee(LeftAnkle(LeftToe)))) RHipJoint(RightHip(RightKnee(RightAnkle(RightToe))))
lowerback(Chest(Chest2(lowerneck(Neck(Head))
LeftCollar(LeftShoulder(LeftElbow(LeftWrist(lhand(LFingers) LThumb))))
RightCollar(RightShoulder(RightElbow(RightWrist(rhand(RFingers) RThumb))))))))
root(lhipjoint(lfemur(ltibia(lfoot(ltoes)))) rhipjoint(rfemur(rtibia(rfoot(rtoes))))
lowerback(upperback(thorax(lowerneck(upperneck(head))
lclavicle(lhumerus(lradius(lwrist(lhand(lfingers) lthumb))))
rclavicle(rhumerus(rradius(rwrist(rhand(rfingers) rthumb))))))))
Hips(Spine(Spine1(Spine2(Neck(Head(HeadTop_End))
LeftShoulder(LeftArm(LeftForeArm(LeftHand(LeftHandThumb1(LeftHandThumb2(LeftHandThumb3(LeftHandThumb4)))
LeftHandIndex1(LeftHandIndex2(LeftHandIndex3(LeftHandIndex4)))
LeftHandMiddle1(LeftHandMiddle2(LeftHandMiddle3(LeftHandMiddle4)))
LeftHandRing1(LeftHandRing2(LeftHandRing3(LeftHandRing4)))
LeftHandPinky1(LeftHandPinky2(LeftHandPinky3(LeftHandPinky4)))))))
RightShoulder(RightArm(RightForeArm(RightHand(RightHandThumb1(RightHandThumb2(RightHandThumb3(RightHandThumb4)))
RightHandIndex1(RightHandIndex2(RightHandIndex3(RightHandIndex4)))
RightHandMiddle1(RightHandMiddle2(RightHandMiddle3(RightHandMiddle4)))
RightHandRing1(RightHandRing2(RightHandRing3(RightHandRing4)))
RightHandPinky1(RightHandPinky2(RightHandPinky3(RightHandPinky4))))))))))
LeftUpLeg(LeftLeg(LeftFoot(LeftToeBase(LeftToe_End)))) RightUpLeg(RightLeg(RightFoot(RightToeBase(RightToe_End)))))
Hips(LeftUpLeg(LeftLeg(LeftFoot(LeftToe))) RightUpLeg(RightLeg(RightFoot(RightToe))) Spine(Spine1(Spine2(Spine3(
Neck(Neck1(Head)) LeftShoulder(LeftArm(LeftForeArm(LeftHand))) RightShoulder(RightArm(RightForeArm(RightHand))))))))
Hips(Chest(Chest2(Chest3(Chest4(Neck(Head)
RightCollar(RightShoulder(RightElbow(RightWrist))) LeftCollar(LeftShoulder(LeftElbow(LeftWrist)))))))
RightHip(RightKnee(RightAnkle(RightToe))) LeftHip(LeftKnee(LeftAnkle(LeftToe))))
Pelvis(L5(L3(T12(T8(Neck(Head)
RightShoulder(RightUpperArm(RightForeArm(RightHand))) LeftShoulder(LeftUpperArm(LeftForeArm(LeftHand)))))))
RightUpperLeg(RightLowerLeg(RightFoot(RightToe))) LeftUpperLeg(LeftLowerLeg(LeftFoot(LeftToe))))
Root(Hips(Spine1(Spine2(Spine3(Spine4(Neck(Head) LeftShoulder(LeftArm(LeftForeArm(LeftHand(
LeftFinger1Metacarpal(LeftFinger1Proximal(LeftFinger1Distal(LeftFinger1Tip)))
LeftFinger2Metacarpal(LeftFinger2Proximal(LeftFinger2Medial(LeftFinger2Distal(LeftFinger2Tip))))
LeftFinger3Metacarpal(LeftFinger3Proximal(LeftFinger3Medial(LeftFinger3Distal(LeftFinger3Tip))))
LeftFinger4Metacarpal(LeftFinger4Proximal(LeftFinger4Medial(LeftFinger4Distal(LeftFinger4Tip))))
LeftFinger5Metacarpal(LeftFinger5Proximal(LeftFinger5Medial(LeftFinger5Distal(LeftFinger5Tip))))))))
RightShoulder(RightArm(RightForeArm(RightHand(
RightFinger1Metacarpal(RightFinger1Proximal(RightFinger1Distal(RightFinger1Tip)))
RightFinger2Metacarpal(RightFinger2Proximal(RightFinger2Medial(RightFinger2Distal(RightFinger2Tip))))
RightFinger3Metacarpal(RightFinger3Proximal(RightFinger3Medial(RightFinger3Distal(RightFinger3Tip))))
RightFinger4Metacarpal(RightFinger4Proximal(RightFinger4Medial(RightFinger4Distal(RightFinger4Tip))))
RightFinger5Metacarpal(RightFinger5Proximal(RightFinger5Medial(RightFinger5Distal(RightFinger5Tip))))))))))))
LeftThigh(LeftShin(LeftFoot(LeftToe(LeftToeTip)))) RightThigh(RightShin(RightFoot(RightToe(RightToeTip))))))
Pelvis(L_Hip(L_Knee(L_Ankle(L_Foot))) R_Hip(R_Knee(R_Ankle(R_Foot))) Spine1(Spine2(Spine3(Neck(Head)
L_Collar(L_Shoulder(L_Elbow(L_Wrist(L_Hand)))) R_Collar(R_Shoulder(R_Elbow(R_Wrist(R_Hand))))))))
root(pelvis(spine_01(spine_02(spine_03(clavicle_l(upperarm_l(lowerarm_l(hand_l(index_01_l(index_02_l(index_03_l))
middle_01_l(middle_02_l(middle_03_l)) pinky_01_l(pinky_02_l(pinky_03_l)) ring_01_l(ring_02_l(ring_03_l))
thumb_01_l(thumb_02_l(thumb_03_l))) lowerarm_twist_01_l) upperarm_twist_01_l))
clavicle_r(upperarm_r(lowerarm_r(hand_r(index_01_r(index_02_r(index_03_r))
middle_01_r(middle_02_r(middle_03_r)) pinky_01_r(pinky_02_r(pinky_03_r)) ring_01_r(ring_02_r(ring_03_r))
thumb_01_r(thumb_02_r(thumb_03_r))) lowerarm_twist_01_r) upperarm_twist_01_r)) neck_01(head))))
thigh_l(calf_l(calf_twist_01_l foot_l(ball_l)) thigh_twist_01_l)
thigh_r(calf_r(calf_twist_01_r foot_r(ball_r)) thigh_twist_01_r)))
hips(spine(chest(upperChest(neck(head) leftShoulder(leftUpperArm(leftLowerArm(leftHand)))
rightShoulder(rightUpperArm(rightLowerArm(rightHand))))))
leftUpperLeg(leftLowerLeg(leftFoot(leftToes))) rightUpperLeg(rightLowerLeg(rightFoot(rightToes))))
hip(abdomen(chest(neck(head(leftEye rightEye)) lCollar(lShldr(lForeArm(lHand(lThumb1(lThumb2) lIndex1(lIndex2)
lMid1(lMid2) lRing1(lRing2) lPinky1(lPinky2))))) rCollar(rShldr(rForeArm(rHand(rThumb1(rThumb2) rIndex1(rIndex2)
rMid1(rMid2) rRing1(rRing2) rPinky1(rPinky2)))))))
lButtock(lThigh(lShin(lFoot))) rButtock(rThigh(rShin(rFoot))))
Hip(Ab(Chest(Neck(Head) LShoulder(LUArm(LFArm(LHand))) RShoulder(RUArm(RFArm(RHand)))))
LThigh(LShin(LFoot(LToe))) RThigh(RShin(RFoot(RToe))))
SpineBase(SpineMid(SpineShoulder(Neck(Head) ShoulderLeft(ElbowLeft(WristLeft(HandLeft(HandTipLeft) ThumbLeft)))
ShoulderRight(ElbowRight(WristRight(HandRight(HandTipRight) ThumbRight)))))
HipLeft(KneeLeft(AnkleLeft(FootLeft))) HipRight(KneeRight(AnkleRight(FootRight))))
"""
