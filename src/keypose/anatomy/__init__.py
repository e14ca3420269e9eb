"""Joint names of every exporter -> body parts and groups.

A part is named for the segment whose rotation the joint drives, in snake case; the joint itself sits at
that segment's upper end:

    part                       sits at               also called
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
    left_hip_joint             a helper between hips and thigh, usually of no length
    left_thigh                 hip joint             left_hip, left_upper_leg
    left_shin                  knee                  left_knee, left_lower_leg, left_calf
    left_foot                  ankle                 left_ankle
    left_toes                  ball of the foot      left_toe
    left_eye, jaw              where they are

and the same for ``right_``; a limb whose side the file does not say has no prefix. Each of these belongs
to at most one joint. Everything else that is understood but is no joint of the body proper (faces, twist
bones, end joints, controls) gets a part spelled from its own name, such as ``left_forearm_twist``.

``words.py`` holds the vocabulary, ``names.py`` reads one name, ``recognition.py`` adds what only the place in
the hierarchy can tell, ``parts.py`` is the result.
"""

from keypose.anatomy.parts import Anatomy
from keypose.anatomy.recognition import recognise

__all__ = ["Anatomy", "recognise"]
