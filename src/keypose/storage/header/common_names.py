"""Common joint names in their common order. Part of the format, see docs/kps.md.

Parentheses enclose the children of the joint before them. A name that follows its predecessor of this list costs hardly
any bits, and so does its parent.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

INDEX_BITS = 9  # of the index of a name
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
