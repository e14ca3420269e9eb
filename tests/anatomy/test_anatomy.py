from __future__ import annotations

import string
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import FormatWarning, UnknownJoint
from keypose.anatomy import Anatomy, recognise
from keypose.anatomy.names import parse_name
from support.errors import raises
from support.skeletons import EXPORTERS, parse

CMU, _PARENTS, _ = parse(EXPORTERS["CMU in MotionBuilder names"])


@pytest.fixture
def cmu() -> Anatomy:
    return recognise(CMU, _PARENTS)


def names_of(anatomy: Anatomy, joints: tuple[int, ...]) -> list[str]:
    return [anatomy.names[j] for j in joints]


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_the_joints_of_every_exporter(exporter: str) -> None:
    names, parents, expected = parse(EXPORTERS[exporter])
    anatomy = recognise(names, parents)
    assert dict(zip(names, anatomy.body_parts, strict=True)) == dict(zip(names, expected, strict=True))
    unknown = tuple(name for name, part in zip(names, expected, strict=True) if part is None)
    assert anatomy.unrecognised_joints == unknown


@pytest.mark.parametrize(
    ("line", "body_parts"),
    [
        ("LeftShoulder LeftArm LeftForeArm", ["left_collar", "left_upper_arm", "left_forearm"]),
        ("LeftShoulder LeftElbow LeftHand", ["left_upper_arm", "left_forearm", "left_hand"]),
        ("LeftCollar LeftShoulder LeftElbow", ["left_collar", "left_upper_arm", "left_forearm"]),
        ("LeftShoulder LeftArm LeftHand", ["left_upper_arm", "left_forearm", "left_hand"]),
        ("LeftUpLeg LeftLeg LeftFoot", ["left_thigh", "left_shin", "left_foot"]),
        ("LeftLeg LeftKnee", ["left_thigh", "left_shin"]),
        ("LeftHip LeftUpLeg", ["left_hip_joint", "left_thigh"]),
        ("LeftHip LeftLeg LeftFoot", ["left_thigh", "left_shin", "left_foot"]),
        ("LeftAnkle LeftFoot", ["left_foot", "left_toes"]),
        ("LeftFoot LeftToe", ["left_foot", "left_toes"]),
        ("LeftWrist LeftHand", ["left_hand", "left_palm"]),
        ("LeftForeArm LeftHand", ["left_forearm", "left_hand"]),
    ],
)
def test_the_hierarchy_decides_ambiguous_words(line: str, body_parts: list[str]) -> None:
    names = line.split()
    assert list(recognise(names, range(-1, len(names) - 1)).body_parts) == body_parts


@pytest.mark.parametrize(
    ("line", "body_parts"),
    [
        ("LeftUpLeg LeftLeg LeftFoot LeftFinger1", ["left_thigh", "left_shin", "left_foot", None]),
        ("LeftUpLeg LeftLeg LeftIndex1", ["left_thigh", "left_shin", None]),
        ("LeftUpLeg LeftLeg LeftForeArm", ["left_thigh", "left_shin", None]),
        ("LeftShoulder LeftArm LeftHand LeftToe", ["left_upper_arm", "left_forearm", "left_hand", None]),
        ("LeftShoulder LeftArm LeftHand LeftBigToe", ["left_upper_arm", "left_forearm", "left_hand", None]),
        ("LeftHip LeftShoulder LeftArm LeftIndex1", ["left_thigh", "left_upper_arm", "left_forearm", "left_index1"]),
    ],
)
def test_a_limb_that_contradicts_the_skeleton_is_refused(line: str, body_parts: list[str | None]) -> None:
    names = line.split()
    assert list(recognise(names, range(-1, len(names) - 1)).body_parts) == body_parts


@pytest.mark.parametrize("name", ["PinkyToe1", "L_IndexToe1", "l_midtoe1", "LeftRingToe", "LeftFootIndex1"])
def test_toes_named_like_fingers_are_toes(name: str) -> None:
    label = parse_name(name)
    assert label.kind == "toe"
    anatomy = recognise(["LeftUpLeg", "LeftLeg", "LeftFoot", name], range(-1, 3))
    assert anatomy.body_parts[3] is not None and "fingers" not in anatomy.groups


def test_no_limb_leads_to_auxiliary_joints() -> None:
    names, parents, _ = parse(EXPORTERS["Character Creator"])
    anatomy = recognise(names, parents)
    assert names_of(anatomy, sorted(anatomy.auxiliary_joints)) == ["CC_Base_Pelvis", "CC_Base_L_ThighTwist01"]
    names = ("Hips", "Spine", "lPectoral", "CC_Base_R_Breast", "PoleTarget.L", "Tail", "Ponytail1")
    anatomy = recognise(names, [-1, 0, 1, 1, 0, 0, 1])
    assert names_of(anatomy, sorted(anatomy.auxiliary_joints)) == ["lPectoral", "CC_Base_R_Breast", "PoleTarget.L"]
    assert "fingers" not in anatomy.groups


@pytest.mark.parametrize("name", ["LowerBack", "Leg", "ring1", "root", "rib", "Lip", "lowerneck", "roll"])
def test_a_first_letter_is_not_always_a_side(name: str) -> None:
    part = recognise([name], [-1]).body_parts[0]
    assert part is None or not part.startswith(("left_", "right_"))


@pytest.mark.parametrize("name", ["hips", "Hips", "HIPS", "a:b:Hips", "a|Hips", "CC_Base_Hip", "Hips#", "hips_jnt"])
def test_spellings_of_the_hips(name: str) -> None:
    assert recognise([name], [-1]).body_parts == ("hips",)


def test_points_without_hierarchy_are_markers_not_joints() -> None:
    labels = ("LASI", "RHIP", "HEAD", "LeftHand", "RKNEE")
    anatomy = recognise(labels, [-1] * len(labels))
    assert anatomy.body_parts == (None,) * len(labels)
    assert anatomy.unrecognised_joints == labels
    assert anatomy.vertical_pair() is None
    assert anatomy.joints("all") == (0, 1, 2, 3, 4)


def test_no_joints_at_all() -> None:
    assert recognise([], []).body_parts == ()


def test_a_joint_by_part_and_by_the_place_it_sits_at(cmu: Anatomy) -> None:
    for place, name in {
        "left_shoulder": "LeftArm",
        "left_elbow": "LeftForeArm",
        "left_wrist": "LeftHand",
        "left_hip": "LeftUpLeg",
        "left_knee": "LeftLeg",
        "left_ankle": "LeftFoot",
        "left_clavicle": "LeftShoulder",
        "left_forearm": "LeftForeArm",
        "Left Toe": "LeftToeBase",
        "pelvis": "Hips",
        "chest": "Spine1",
        "spine": "LowerBack",
        "head": "Head",
    }.items():
        assert cmu.names[cmu.joint(place)] == name, place


def test_groups(cmu: Anatomy) -> None:
    for group, names in {
        "hands": ["LeftHand", "RightHand"],
        "feet": ["LeftFoot", "LeftToeBase", "RightFoot"],
        "left_arm": ["LeftArm", "LeftForeArm", "LeftHand"],
        "right_leg": ["RightUpLeg", "RightLeg", "RightFoot"],
        "spine": ["LowerBack", "Spine", "Spine1"],
        "head": ["Neck", "Neck1", "Head"],
        "torso": ["Hips", "LowerBack", "Spine", "Spine1", "LeftShoulder", "RightShoulder"],
        "fingers": ["LeftFingerBase", "LeftHandIndex1", "LThumb"],
        "end_effectors": ["LeftFoot", "RightFoot", "Head", "LeftHand", "RightHand"],
        "all": CMU,
    }.items():
        assert names_of(cmu, cmu.joints(group)) == names, group
    assert cmu.joints("arms") == tuple(sorted(cmu.joints("left_arm") + cmu.joints("right_arm")))
    assert set(cmu.joints("left_side")).isdisjoint(cmu.joints("right_side"))
    leaves_out = {"LHipJoint", "RHipJoint", "LeftToeBase", "LeftFingerBase", "LeftHandIndex1", "LThumb"}
    assert set(names_of(cmu, cmu.joints("body"))) == set(CMU) - leaves_out
    assert "right_fingers" not in cmu.groups


def test_major_joints_feet_and_the_vertical(cmu: Anatomy) -> None:
    sided = [side + name for name in ("ForeArm", "Hand", "Leg", "Foot") for side in ("Left", "Right")]
    assert names_of(cmu, cmu.major()) == ["Hips", *sided]
    feet = {side: names_of(cmu, joints) for side, joints in cmu.feet().items()}
    assert feet == {"left": ["LeftFoot", "LeftToeBase"], "right": ["RightFoot"]}
    pair = cmu.vertical_pair()
    assert pair is not None
    assert [names_of(cmu, joints) for joints in pair] == [["LeftFoot", "RightFoot"], ["Head"]]


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("Hips Spine Head", ((0,), (2,))),
        ("Hips Spine Spine1", ((0,), (2,))),
        ("Hips LeftUpLeg LeftLeg LeftToe", ((3,), (0,))),
        ("Hips Spine Head Tail", None),
        ("Hips", None),
        ("Root Neck Head", None),
        ("base child", None),
    ],
)
def test_the_next_best_vertical(line: str, pair: tuple[tuple[int, ...], ...] | None) -> None:
    names = line.split()
    assert recognise(names, range(-1, len(names) - 1)).vertical_pair() == pair


def test_unknown_names_raise_and_suggest(cmu: Anatomy) -> None:
    with raises(UnknownJoint, value="left_elbo"):
        cmu.joint("left_elbo")
    with raises(UnknownJoint, value="handz"):
        cmu.joints("handz")
    for group in ("hands", "", "left_index2"):  # a group is not one joint
        with pytest.raises(UnknownJoint):
            cmu.joint(group)
    with pytest.raises(UnknownJoint):
        recognise(["Hips", "Spine"], [-1, 0]).joints("hands")


def test_mirror_partners(cmu: Anatomy) -> None:
    partners = {cmu.names[j]: cmu.names[k] for j, k in enumerate(cmu.mirror_partners())}
    assert partners["LeftArm"] == "RightArm"
    assert partners["RHipJoint"] == "LHipJoint"
    assert partners["Head"] == "Head"
    assert partners["LThumb"] == "LThumb"  # its partner is not in this table


def test_mirror_partners_pair_unknown_joints_by_name() -> None:
    anatomy = recognise(["Hips", "Wing.L", "Wing.R", "Fin.L", "lAntenna2", "rAntenna2"], [-1, 0, 0, 0, 0, 0])
    assert anatomy.unrecognised_joints == anatomy.names[1:]
    assert anatomy.mirror_partners() == (0, 2, 1, 3, 5, 4)


_WORDS = [*CMU, *"LRlr_.:# 01é", "Left", "Right", "Arm", "Leg", "Shoulder", "hip", "face", "Finger", "Thumb"]
_WORDS += ["Metacarpal", "Twist", "End", "Bip01", "root", "joint", "Palm", "Eye", "01"]
_NAMES = st.lists(st.sampled_from(_WORDS), max_size=4).map("".join) | st.text(string.printable, max_size=8)


@st.composite
def _trees(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    names = draw(st.lists(_NAMES, max_size=20))
    return names, [draw(st.integers(-1, j - 1)) for j in range(len(names))]


@settings(max_examples=300, deadline=None)
@given(_trees())
def test_no_part_twice_and_mirroring_twice_changes_nothing(tree: tuple[list[str], list[int]]) -> None:
    anatomy = recognise(*tree)
    recognised = [part for part in anatomy.body_parts if part is not None]
    assert len(set(recognised)) == len(recognised)
    assert len(recognised) + len(anatomy.unrecognised_joints) == len(tree[0])
    partners = anatomy.mirror_partners()
    assert [partners[k] for k in partners] == list(range(len(tree[0])))
    for joints in anatomy.groups.values():
        assert all(a < b for a, b in pairwise(joints))
    assert all(anatomy.body_parts[anatomy.joint(part)] == part for part in recognised if part == part.strip("_-"))


UNRECOGNISED = {
    "blender_6ch-every-joint_alien": ("SkullBase",),
    "blender_tiny_usd-plugin": ("Foo",),
    "no-end-site_tabs": ("base", "child1", "child2", "child3"),
    "tiny_two-joints": ("Base",),
}


@pytest.mark.data
def test_every_joint_of_the_real_files_is_recognised_or_listed(data_dir: Path) -> None:
    files = [*(data_dir / "formats" / "bvh").glob("*.bvh"), *(data_dir / "cmu120").rglob("*.bvh")]
    assert len(files) >= 40
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)
            anatomy = kp.load(file).skeleton.anatomy
        assert anatomy.unrecognised_joints == UNRECOGNISED.get(file.stem, ()), file.name
        if anatomy.vertical_pair() is not None and len(anatomy.names) > 10:
            hands = 0 if file.stem.startswith("blender_mixed") else 2  # that figure ends at its elbows
            assert len(anatomy.major()) == 7 + hands, file.name


@pytest.mark.data
def test_the_up_axis_of_the_real_files(data_dir: Path) -> None:
    z_up = {"fair_zup_dab", "59joints_fingers_zup", "mixed-rotation-orders"}
    swimming_or_lying = ["111_03", "113_08", "121_18", "125_05", "126_01", "126_06", "140_04"]
    files = [*(data_dir / "formats" / "bvh").glob("*.bvh"), *(data_dir / "cmu120").rglob("*.bvh")]
    files += [data_dir / "cmu30-more" / f"{name}.bvh.gz" for name in swimming_or_lying]
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)
            assert kp.load(file).up == ("Z" if file.stem in z_up else "Y"), file.name


def test_names_of_a_megabyte_are_truncated_and_not_cached() -> None:
    from keypose.anatomy import names

    names._parse.cache_clear()
    prefix = "rig:" * 300_000
    assert names.parse_name(prefix + "LeftArm").snake_name == "left_arm"
    label = names.parse_name("LeftArm" + "Very" * 300_000)
    assert (label.side, len(label.snake_name) < 2 * names.MAX_LETTERS) == ("left", True)
    memory = names._parse.cache_parameters()["maxsize"] * names.MAX_LETTERS * 4
    assert memory < 10e6  # bytes of names, at worst
