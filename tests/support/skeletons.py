"""Skeletons as the exporters name them, each joint with its expected body part.

Each row is a chain of joints, indented below the row with its parent, the last joint of that row. A joint is written as
``name=part``, or ``name=-`` if no body part should be recognised.
"""

from __future__ import annotations

EXPORTERS: dict[str, str] = {
    "CMU in MotionBuilder names": """
        Hips=hips
          LHipJoint=left_hip_joint > LeftUpLeg=left_thigh > LeftLeg=left_shin > LeftFoot=left_foot
           LeftToeBase=left_toes
          RHipJoint=right_hip_joint > RightUpLeg=right_thigh > RightLeg=right_shin > RightFoot=right_foot
          LowerBack=spine > Spine=spine1 > Spine1=spine2
            Neck=neck > Neck1=neck1 > Head=head
            LeftShoulder=left_collar > LeftArm=left_upper_arm > LeftForeArm=left_forearm > LeftHand=left_hand
              LeftFingerBase=left_palm > LeftHandIndex1=left_index1
              LThumb=left_thumb1
            RightShoulder=right_collar > RightArm=right_upper_arm > RightForeArm=right_forearm
             RightHand=right_hand
        """,
    "CMU in 3ds Max names": """
        Hips=hips
          LHipJoint=left_hip_joint > LeftHip=left_thigh > LeftKnee=left_shin > LeftAnkle=left_foot
           LeftToe=left_toes
          lowerback=spine > Chest=spine1 > Chest2=spine2
            lowerneck=neck > Neck=neck1 > Head=head
            LeftCollar=left_collar > LeftShoulder=left_upper_arm > LeftElbow=left_forearm
             LeftWrist=left_hand
              lhand=left_palm > LFingers=left_fingers
              LThumb=left_thumb1
        """,
    "ASF": """
        root=hips
          lhipjoint=left_hip_joint > lfemur=left_thigh > ltibia=left_shin > lfoot=left_foot > ltoes=left_toes
          rhipjoint=right_hip_joint > rfemur=right_thigh > rtibia=right_shin > rfoot=right_foot
           rtoes=right_toes
          lowerback=spine > upperback=spine1 > thorax=spine2
            lowerneck=neck > upperneck=neck1 > head=head
            rclavicle=right_collar > rhumerus=right_upper_arm > rradius=right_forearm > rwrist=right_hand
              rhand=right_palm > rfingers=right_fingers
              rthumb=right_thumb1
        """,
    "DAZ": """
        hip=hips
          pelvis=pelvis_helper
            lThighBend=left_thigh > lThighTwist=left_thigh_twist > lShin=left_shin > lFoot=left_foot
              lMetatarsals=left_metatarsals > lToe=left_toes > lSmallToe4=left_small_toe4
               lSmallToe4_2=left_small_toe4_2
          abdomenLower=spine > abdomenUpper=spine1 > chestLower=spine2
            lPectoral=left_pectoral
            chestUpper=spine3
              rCollar=right_collar > rShldrBend=right_upper_arm > rShldrTwist=right_shldr_twist
                rForearmBend=right_forearm > rForearmTwist=right_forearm_twist > rHand=right_hand
                  rCarpal1=right_carpal1 > rIndex1=right_index1 > rIndex2=right_index2
                  rMid1=right_middle1
              neckLower=neck > neckUpper=neck1 > head=head
                lowerJaw=jaw > lLipCorner=left_lip_corner
                rBrowMid=right_brow_mid
                MidNoseBridge=mid_nose_bridge
                lEye=left_eye
        """,
    "Poser": """
        hip=hips
          abdomen=spine > chest=spine1 > lCollar=left_collar > lShldr=left_upper_arm > lForeArm=left_forearm
          rButtock=right_hip_joint > rThigh=right_thigh > rShin=right_shin > rFoot=right_foot
        """,
    "Mixamo": """
        mixamorig:Hips=hips
          mixamorig:Spine=spine > mixamorig:Spine1=spine1 > mixamorig:Spine2=spine2
            mixamorig:Neck=neck > mixamorig:Head=head > mixamorig:HeadTop_End=head_top_end
            mixamorig:LeftShoulder=left_collar > mixamorig:LeftArm=left_upper_arm
             mixamorig:LeftForeArm=left_forearm
              mixamorig:LeftHand=left_hand > mixamorig:LeftHandThumb1=left_thumb1
               mixamorig:LeftHandThumb2=left_thumb2
          mixamorig1:RightUpLeg=right_thigh > mixamorig1:RightLeg=right_shin > mixamorig1:RightFoot=right_foot
            mixamorig1:RightToeBase=right_toes > mixamorig1:RightToe_End=right_toe_end
        """,
    "3ds Max Biped": """
        Bip01=root
          Bip01 Footsteps=footsteps
          Bip01 Pelvis=hips > Bip01 Spine=spine > Bip01 Spine1=spine1
            Bip01 Neck=neck > Bip01 Head=head > Bip01 HeadNub=head_nub
            Bip01 L Clavicle=left_collar > Bip01 L UpperArm=left_upper_arm > Bip01 L Forearm=left_forearm
              Bip01 L Hand=left_hand
                Bip01 L Finger0=left_thumb1 > Bip01 L Finger01=left_thumb2
                 Bip01 L Finger0Nub=left_finger0_nub
                Bip01 L Finger1=left_index1 > Bip01 L Finger11=left_index2
            Bip01 L Thigh=left_thigh > Bip01 L Calf=left_shin > Bip01 L Foot=left_foot
             Bip01 L Toe0=left_toes
        """,
    "Rigify": """
        spine=hips
          pelvis.L=left_pelvis_helper
          thigh.L=left_thigh > shin.L=left_shin > foot.L=left_foot
            toe.L=left_toes
            heel.02.L=left_heel02
          thigh.R=right_thigh > shin.R=right_shin > foot.R=right_foot > toe.R=right_toes
          spine.001=spine > spine.002=spine1 > spine.003=spine2
            spine.004=neck > spine.005=neck1 > spine.006=head > face=face
            shoulder.L=left_collar > upper_arm.L=left_upper_arm > forearm.L=left_forearm > hand.L=left_hand
              palm.01.L=left_palm01 > f_index.01.L=left_index1 > f_index.02.L=left_index2
            shoulder.R=right_collar > upper_arm.R=right_upper_arm > forearm.R=right_forearm
             hand.R=right_hand
        """,
    "SMPL": """
        Pelvis=hips
          L_Hip=left_thigh > L_Knee=left_shin > L_Ankle=left_foot > L_Foot=left_toes
          Spine1=spine > Spine2=spine1 > Spine3=spine2
            Neck=neck > Head=head
            L_Collar=left_collar > L_Shoulder=left_upper_arm > L_Elbow=left_forearm > L_Wrist=left_hand
             L_Hand=left_palm
        """,
    "Unreal": """
        root=root
          pelvis=hips
            spine_01=spine > spine_02=spine1
              clavicle_l=left_collar > upperarm_l=left_upper_arm
                lowerarm_l=left_forearm
                  lowerarm_twist_01_l=left_lowerarm_twist01
                  hand_l=left_hand > index_metacarpal_l=left_index0 > index_01_l=left_index1
                upperarm_twist_01_l=left_upperarm_twist01
              neck_01=neck > head=head
            thigh_r=right_thigh > calf_r=right_shin > foot_r=right_foot > ball_r=right_toes
          ik_foot_root=ik_foot_root > ik_foot_r=right_ik_foot
        """,
    "VRM": """
        hips=hips
          spine=spine > chest=spine1 > upperChest=spine2
            neck=neck > head=head > leftEye=left_eye
            leftShoulder=left_collar > leftUpperArm=left_upper_arm > leftLowerArm=left_forearm
             leftHand=left_hand
              leftThumbMetacarpal=left_thumb1 > leftThumbProximal=left_thumb2 > leftThumbDistal=left_thumb3
              leftLittleProximal=left_pinky1 > leftLittleIntermediate=left_pinky2
          rightUpperLeg=right_thigh > rightLowerLeg=right_shin > rightFoot=right_foot > rightToes=right_toes
        """,
    "Xsens segments": """
        Pelvis=hips
          L5=spine > L3=spine1 > T12=spine2 > T8=spine3
            Neck=neck > Head=head
            RightShoulder=right_collar > RightUpperArm=right_upper_arm > RightForeArm=right_forearm
             RightHand=right_hand
          LeftUpperLeg=left_thigh > LeftLowerLeg=left_shin > LeftFoot=left_foot > LeftToe=left_toes
        """,
    "OpenNI": """
        TORSO#=hips
          TLS=left_shoulder_offset > LEFT_SHOULDER#=left_upper_arm > LEFT_ELBOW=left_forearm
           LEFT_HAND=left_hand
          TLH=left_hip_offset > LEFT_HIP#=left_thigh > LEFT_KNEE=left_shin > LEFT_FOOT=left_foot
          TRH=right_hip_offset > RIGHT_HIP#=right_thigh > RIGHT_KNEE=right_shin > RIGHT_FOOT=right_foot
          TN=neck_offset > NECK#=neck > HEAD=head
        """,
    "Kinect 2": """
        SpineBase=hips
          SpineMid=spine > SpineShoulder=spine1
            Neck=neck > Head=head
            ShoulderLeft=left_upper_arm > ElbowLeft=left_forearm > WristLeft=left_hand
              HandLeft=left_palm > HandTipLeft=left_hand_tip
              ThumbLeft=left_thumb1
          HipRight=right_thigh > KneeRight=right_shin > AnkleRight=right_foot > FootRight=right_toes
        """,
    "Rokoko": """
        Root=root > Hips=hips
          LeftThigh=left_thigh > LeftShin=left_shin > LeftFoot=left_foot > LeftToe=left_toes
           LeftToeTip=left_toe_tip
          Spine1=spine > Spine2=spine1 > LeftShoulder=left_collar > LeftArm=left_upper_arm
           LeftForeArm=left_forearm
            LeftHand=left_hand
              LeftFinger1Metacarpal=left_thumb1 > LeftFinger1Proximal=left_thumb2
               LeftFinger1Tip=left_finger1_tip
              LeftFinger5Metacarpal=left_pinky0 > LeftFinger5Proximal=left_pinky1
        """,
    "OptiTrack": """
        Skeleton1_Hip=hips
          Ab=spine > Chest=spine1 > LShoulder=left_collar > LUArm=left_upper_arm > LFArm=left_forearm
           LHand=left_hand
          RThigh=right_thigh > RShin=right_shin > RFoot=right_foot > RToe=right_toes
        """,
    "Character Creator": """
        CC_Base_BoneRoot=root > CC_Base_Hip=hips
          CC_Base_Pelvis=pelvis_helper > CC_Base_L_Thigh=left_thigh
            CC_Base_L_Calf=left_shin > CC_Base_L_Foot=left_foot > CC_Base_L_ToeBase=left_toes
             CC_Base_L_PinkyToe1=left_pinky_toe1
             CC_Base_L_RingToe1=left_ring_toe1
             CC_Base_L_MidToe1=left_mid_toe1
             CC_Base_L_IndexToe1=left_index_toe1
             CC_Base_L_BigToe1=left_big_toe1
            CC_Base_L_ThighTwist01=left_thigh_twist01
          CC_Base_Waist=spine > CC_Base_Spine01=spine1 > CC_Base_NeckTwist01=neck > CC_Base_Head=head
           CC_Base_JawRoot=jaw
           CC_Base_L_Clavicle=left_collar > CC_Base_L_Upperarm=left_upper_arm > CC_Base_L_Forearm=left_forearm
            CC_Base_L_Hand=left_hand
             CC_Base_L_Mid1=left_middle1 > CC_Base_L_Mid2=left_middle2 > CC_Base_L_Mid3=left_middle3
             CC_Base_L_Index1=left_index1 > CC_Base_L_Index2=left_index2
             CC_Base_L_Ring1=left_ring1
             CC_Base_L_Pinky1=left_pinky1 > CC_Base_L_Pinky2=left_pinky2
             CC_Base_L_Thumb1=left_thumb1
        """,
    "MakeHuman": """
        root=hips
          spine02=spine
            spine01=spine1 > neck01=neck > head=head
            clavicle.L=left_collar > shoulder01.L=left_shoulder01_helper > upperarm01.L=left_upper_arm
              upperarm02.L=left_upperarm02_helper > lowerarm01.L=left_forearm > wrist.L=left_hand
               finger1-1.L=left_thumb1
          upperleg01.L=left_thigh > lowerleg01.L=left_shin
          upperleg01.R=right_thigh > lowerleg01.R=right_shin
        """,
    "Perception Neuron": """
        Robot_Hips=hips
          Robot_Spine=spine > Robot_RightShoulder=right_collar > Robot_RightArm=right_upper_arm
           Robot_RightForeArm=right_forearm > Robot_RightHand=right_hand
            Robot_RightInHandIndex=right_index0 > Robot_RightHandIndex1=right_index1
        """,
    "CesiumMan": """
        Skeleton_torso_joint_1=hips
          Skeleton_torso_joint_2=spine > torso_joint_3=spine1
            Skeleton_neck_joint_1=neck > Skeleton_neck_joint_2=head
            Skeleton_arm_joint_L__4_=left_upper_arm > Skeleton_arm_joint_L__3_=left_forearm
             Skeleton_arm_joint_L__2_=left_hand
            Skeleton_arm_joint_R=right_upper_arm > Skeleton_arm_joint_R__2_=right_forearm
             Skeleton_arm_joint_R__3_=right_hand
          leg_joint_L_1=left_thigh > leg_joint_L_2=left_shin > leg_joint_L_3=left_foot
           leg_joint_L_5=left_toes
          leg_joint_R_1=right_thigh > leg_joint_R_2=right_shin > leg_joint_R_3=right_foot
           leg_joint_R_5=right_toes
        """,
    "RobotExpressive": """
        Bone=-
          Foot.L=left_foot
          Body=root
            Hips=hips > Abdomen=spine > Torso=spine1
              Neck=neck > Head=head
              Shoulder.L=left_collar > UpperArm.L=left_upper_arm > LowerArm.L=left_forearm
                Palm2.L=left_palm2 > Middle1.L=left_middle1
                Thumb.L=left_thumb1 > Thumb2.L=left_thumb2
            UpperLeg.L=left_thigh > LowerLeg.L=left_shin
          PoleTarget.L=left_pole_target
        """,
    "Fox": """
        _rootJoint=root > b_Root_00=root00_helper > b_Hip_01=hips
          b_Spine01_02=spine > b_Neck_04=neck > b_Head_05=head
          b_Tail01_012=tail01_012
          b_LeftLeg01_015=left_thigh > b_LeftLeg02_016=left_shin > b_LeftFoot01_017=left_foot
           b_LeftFoot02_018=left_toes
        """,
    "an arm without a side": "Shoulder=upper_arm > Elbow=forearm > Hand=hand",
    "a head": "Root=root > Neck=neck > SkullBase=- > Head=head > EyeLeft=left_eye",
    "no body": "base=- > child1=- > Bone.001=- > 骨=- > :=-",
}


def parse(text: str) -> tuple[list[str], list[int], list[str | None]]:
    """Return names, parents and expected body parts of one of the texts above."""
    names: list[str] = []
    parents: list[int] = []
    columns: list[str | None] = []
    open_lines: list[tuple[int, int]] = []  # indent and last joint of the lines that may be a parent
    for line in filter(str.strip, text.splitlines()):
        indent = len(line) - len(line.lstrip())
        while open_lines and open_lines[-1][0] >= indent:
            open_lines.pop()
        parent = open_lines[-1][1] if open_lines else -1
        for joint in line.strip().split(" > "):
            name, part = joint.split("=")
            parents.append(parent)
            parent = len(names)
            names.append(name)
            columns.append(part if part != "-" else None)
        open_lines.append((indent, parent))
    return names, parents, columns
