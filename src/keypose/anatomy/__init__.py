"""Recognise body parts and groups from the joint names of every exporter.

A body part is named after the segment that the joint rotates, in snake case; the joint is at the upper end of that
segment:

    body part                  position              also called
    hips                       pelvis (root)         pelvis
    spine, spine1, spine2 ...  up the column         chest: the last of them, which carries arms and neck
    neck, neck1 ...            base of the neck up
    head                       base of the skull
    left_collar                breast bone           left_clavicle
    left_upper_arm             shoulder joint        left_shoulder
    left_forearm               elbow                 left_elbow, left_lower_arm
    left_hand                  wrist                 left_wrist
    left_palm, left_fingers    knuckles, fingers as one
    left_thumb1, left_index1 ...  finger joints from the palm outwards; left_index0 is a metacarpal
    left_hip_joint             a helper between hips and thigh, usually of length 0
    left_thigh                 hip joint             left_hip, left_upper_leg
    left_shin                  knee                  left_knee, left_lower_leg, left_calf
    left_foot                  ankle                 left_ankle
    left_toes                  ball of the foot      left_toe
    left_eye, jaw              eye, jaw

and the same for ``right_``; a limb without a side in the file has no prefix. Each of these belongs to at most one
joint. The body part of other recognised joints (faces, twist bones, end joints, controls) is made from their own name,
such as ``left_forearm_twist``.

``names.py`` defines the vocabulary and parses one name; ``body_parts.py`` resolves ambiguous names by the hierarchy and
defines the result, ``Anatomy``.
"""

from keypose.anatomy.body_parts import Anatomy, recognise

__all__ = ["Anatomy", "recognise"]
