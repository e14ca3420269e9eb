"""Read and write USD: Keypose's files and those of other exporters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats import list_animations
from keypose.formats.figure import SIDE_COLOURS, linear_colour
from keypose.kinematics import UPS
from keypose.model import note_code
from keypose.rotations import rotate
from support.errors import Pattern, raises, warns
from support.usd_files import load, motion, usda

pytest.importorskip("pxr", reason="USD needs usd-core")

SUFFIXES = (".usda", ".usdc", ".usd", ".usda.gz")


class TestKeyposeFiles:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_everything_comes_back(self, suffix, tmp_path):
        original = motion()
        kp.save(original, tmp_path / f"made{suffix}")
        result = kp.load(tmp_path / f"made{suffix}")
        s, t = original.skeleton, result.skeleton
        assert (t.names, t.rotation_orders, t.channels) == (s.names, s.rotation_orders, s.channels)
        for name in ("parents", "offsets", "end_offsets", "end_joints"):
            assert np.array_equal(getattr(t, name), getattr(s, name)), name
        assert (result.name, result.fps, result.up) == ("made", original.fps, "Y")
        assert (result.first_frame, result.metres_per_unit) == (17, 0.0254)
        assert result.reference_pose is None
        assert result.notes == ()
        assert np.abs(result.translations - original.translations).max() < 1e-5  # single precision
        assert np.abs(result.rotations - original.rotations).max() < 1e-6

    def test_left_and_right_of_the_figure_have_their_colours(self, tmp_path):
        from pxr import Usd, UsdGeom, UsdShade, UsdSkel

        original = kp.demo_motion()[:3]
        kp.save(original, tmp_path / "clip.usdc")
        stage = Usd.Stage.Open(str(tmp_path / "clip.usdc"))
        mesh = UsdGeom.Mesh.Get(stage, stage.GetDefaultPrim().GetPath().AppendChild("Figure"))
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        joints = np.array(UsdSkel.BindingAPI(mesh).GetJointIndicesPrimvar().Get())[corners[:, 0]]
        sides = {"left": "left_", "right": "right_"}
        prefixes = [part[: part.find("_") + 1] for part in original.skeleton.anatomy.body_parts]
        subsets = UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()
        covered = []
        for subset in subsets:
            side = subset.GetPrim().GetName()
            faces = np.array(subset.GetIndicesAttr().Get())
            assert {prefixes[joint] for joint in joints[faces].tolist()} == {sides.get(side, "")}
            covered += faces.tolist()
            material, _ = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()
            shader, _, _ = material.ComputeSurfaceSource()
            colour = shader.GetInput("diffuseColor").Get()
            assert tuple(colour) == pytest.approx(linear_colour(SIDE_COLOURS[side]), abs=1e-6)
        assert sorted(covered) == list(range(len(corners)))  # each face has one colour

    @pytest.mark.parametrize("up", UPS)
    def test_every_up_axis(self, up, tmp_path):
        original = motion(up=up)
        kp.save(original, tmp_path / "up.usda")
        result = kp.load(tmp_path / "up.usda")
        assert result.up == up
        assert np.abs(result.world_positions() - original.world_positions()).max() < 1e-4

    def test_an_unknown_unit_stays_unknown(self, tmp_path):
        from pxr import Usd, UsdGeom

        kp.save(replace(kp.demo_motion()[:5], metres_per_unit=None), tmp_path / "unit.usdc")
        assert kp.load(tmp_path / "unit.usdc").metres_per_unit is None
        stage = Usd.Stage.Open(str(tmp_path / "unit.usdc"))
        assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0  # a viewer shows a figure of natural size

    def test_the_reference_pose_is_separate_or_the_first_frame(self, tmp_path):
        pose = kp.Pose(motion().translations[3] + 1.0, motion().rotations[9])
        original = motion(reference_pose=pose)
        kp.save(original, tmp_path / "apart.usdc")
        result = kp.load(tmp_path / "apart.usdc")
        assert result.n_frames == original.n_frames
        assert np.array_equal(result.reference_pose.translations, pose.translations)
        assert np.abs(result.reference_pose.rotations - pose.rotations).max() < 1e-12
        kp.save(original, tmp_path / "first.usdc", reference_pose=True)
        result = kp.load(tmp_path / "first.usdc", reference_pose="drop")
        assert (result.n_frames, result.first_frame) == (original.n_frames, original.first_frame)
        assert np.abs(result.reference_pose.translations - pose.translations).max() < 1e-5

    def test_one_frame_and_one_joint(self, tmp_path):
        one = kp.Motion("1", kp.Skeleton(("x",), [-1], np.zeros((1, 3))), 30, np.ones((1, 1, 3)), [[[1, 0, 0, 0]]])
        kp.save(one, tmp_path / "1.usda")
        result = kp.load(tmp_path / "1.usda")
        assert result.n_frames == 1
        assert np.array_equal(result.translations, one.translations)

    def test_bytes_that_are_no_text_in_a_name(self, tmp_path):
        names = ("hips", "f\udcfc\udcdf", 'quote"\n')
        skeleton = kp.Skeleton(names, [-1, 0, 1], np.ones((3, 3)))
        original = kp.Motion("n", skeleton, 30, np.ones((2, 3, 3)), np.tile([1.0, 0, 0, 0], (2, 3, 1)))
        kp.save(original, tmp_path / "n.usda")
        assert kp.load(tmp_path / "n.usda").skeleton.names == names

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('\\"version\\":1', '\\"version\\":2'),
            ('\\"end_joints\\":[2,4]', '\\"end_joints\\":[2,5]'),
            ('\\"end_joints\\":[2,4]', '\\"end_joints\\":[4294967296,4]'),
            ('\\"end_joints\\":[2,4]', '\\"end_joints\\":[true,4]'),
            ('\\"ZXY\\"', '\\"ZZZ\\"'),
            ('\\"ZXY\\"', "7"),
            ('\\"ZXY\\"', "[[[[[[[["),
            ('\\"channels\\"', '\\"no\\"'),
            ("Xrotation", "Wrotation"),
            ('\\"up\\":\\"Y\\"', '\\"up\\":[]'),
            ('\\"offsets\\":[[', '\\"offsets\\":[[1e999,'),
            ('\\"offsets\\":[[', '\\"offsets\\":[[\\"x\\",'),
        ],
    )
    def test_edited_keypose_data(self, old, new, tmp_path):
        kp.save(motion(), tmp_path / "x.usda")
        text = (tmp_path / "x.usda").read_text()
        if old not in text:
            old, new = old.replace('\\"', '"'), new.replace('\\"', '"')
        assert old in text
        with warns(
            kp.FormatWarning, code="unused_data", problem=Pattern("^its data for Keypose do not match the skeleton")
        ):
            result = load(tmp_path, text.replace(old, new))
        assert np.abs(result.world_positions() - motion().world_positions()).max() < 1e-3

    def test_a_removed_joint(self, tmp_path):
        from pxr import Usd, UsdSkel

        kp.save(motion(), tmp_path / "x.usda")
        stage = Usd.Stage.Open(str(tmp_path / "x.usda"))
        skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath("/made/Skeleton"))
        for attribute in (
            skeleton.GetJointsAttr(),
            skeleton.GetJointNamesAttr(),
            skeleton.GetRestTransformsAttr(),
            skeleton.GetBindTransformsAttr(),
        ):
            attribute.Set(type(attribute.Get())(list(attribute.Get())[:4]))
        stage.Save()
        with warns(
            kp.FormatWarning, code="unused_data", problem=Pattern("^its data for Keypose do not match the skeleton")
        ):
            result = kp.load(tmp_path / "x.usda")
        assert result.skeleton.names == motion().skeleton.names[:4]
        assert any("not in the skeleton" in note for note in result.notes)


class TestOtherFiles:
    def test_the_small_file(self, tmp_path):
        result = load(tmp_path, usda())
        assert (result.n_frames, result.fps, result.up, result.metres_per_unit) == (2, 24.0, "Y", None)
        assert np.allclose(result.world_positions()[:, 1], [[0, 2, 0], [0, -2, 0]])

    def test_unit_axis_and_rate(self, tmp_path):
        result = load(tmp_path, usda(scene='upAxis = "Z"\nmetersPerUnit = 0.5\ntimeCodesPerSecond = 48'))
        assert (result.up, result.metres_per_unit, result.fps) == ("Z", 0.5, 48.0)

    def test_frames_between_keys(self, tmp_path):
        keys = """uniform token[] joints = ["a/b"]
            quatf[] rotations = [(1,0,0,0)]
            float3[] translations.timeSamples = { 10: [(0,2,0)], 20: [(0,4,0)], 25: [(0,4,0)] }"""
        result = load(tmp_path, usda(keys))
        assert (result.n_frames, result.first_frame) == (16, 10)
        assert np.allclose(result.translations[:, 1, 1], [*np.linspace(2, 4, 11), 4, 4, 4, 4, 4])
        result = load(tmp_path, usda(keys), fps=12)
        assert (result.n_frames, result.fps, result.first_frame) == (8, 12.0, 0)
        assert np.allclose(result.translations[:6, 1, 1], np.linspace(2, 4, 6))

    def test_samples_finer_than_time_codes(self, tmp_path):
        samples = ", ".join(f"{i * 0.2}: [(0,{i},0)]" for i in range(11))
        result = load(
            tmp_path, usda(f'uniform token[] joints = ["a/b"]\nfloat3[] translations.timeSamples = {{{samples}}}')
        )
        assert result.n_frames == 11
        assert result.fps == pytest.approx(120.0)
        assert np.allclose(result.translations[:, 1, 1], range(11))

    def test_joints_at_rest_and_unknown_joints(self, tmp_path):
        text = usda('uniform token[] joints = ["z", "a"]\nquatf[] rotations = [(1,0,0,0), (0,1,0,0)]')
        result = load(tmp_path, text)
        assert np.allclose(result.world_positions()[0], [[0, 0, 0], [0, -2, 0]])
        assert any("1 animated joints are not in the skeleton" in note for note in result.notes)

    def test_children_before_parents_and_parents_missing(self, tmp_path):
        matrix = "((1,0,0,0),(0,1,0,0),(0,0,1,0),({},0,0,1))"
        skeleton = f"""uniform token[] joints = ["hip/gap/toe/tip", "hip/gap/toe", "hip"]
            uniform matrix4d[] restTransforms = [{matrix.format(4)}, {matrix.format(2)}, {matrix.format(1)}]"""
        animation = 'uniform token[] joints = ["hip/gap/toe"]\nquatf[] rotations = [(0,0,1,0)]'
        result = load(tmp_path, usda(animation, skeleton))
        assert result.skeleton.names == ("hip", "toe", "tip")
        assert result.skeleton.parents.tolist() == [-1, 0, 1]
        assert np.allclose(result.world_positions()[0, :, 0], [1, 3, -1])

    def test_bind_transforms_stand_in(self, tmp_path):
        m = "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,{},0,1))"
        skeleton = (
            f'uniform token[] joints = ["a", "a/b"]\nuniform matrix4d[] bindTransforms = [{m.format(1)}, {m.format(4)}]'
        )
        result = load(tmp_path, usda('uniform token[] joints = ["a"]\nquatf[] rotations = [(1,0,0,0)]', skeleton))
        assert np.allclose(result.skeleton.offsets, [[0, 1, 0], [0, 3, 0]])

    def test_a_rotated_rest_pose_becomes_the_reference_pose(self, tmp_path):
        quarter = "((0,1,0,0),(-1,0,0,0),(0,0,1,0),({},0,0,1))"  # X to Y
        plain = "((1,0,0,0),(0,1,0,0),(0,0,1,0),({},0,0,1))"
        skeleton = f"""uniform token[] joints = ["a", "a/b"]
            uniform matrix4d[] restTransforms = [{quarter.format(0)}, {plain.format(3)}]"""
        result = load(tmp_path, usda('uniform token[] joints = ["a"]\nquatf[] rotations = [(1,0,0,0)]', skeleton))
        pose = result.reference_pose
        assert np.allclose(rotate(pose.rotations[0], pose.translations[1]), [0, 3, 0])
        assert result.height == pytest.approx(3.0)

    def test_transforms_above_the_skeleton(self, tmp_path):
        above = """double3 xformOp:translate.timeSamples = { 0: (5,0,0), 1: (6,0,0) }
            float xformOp:rotateX = 90
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]"""
        result = load(tmp_path, usda(root=above))
        assert np.allclose(result.world_positions()[:, 0], [[5, 0, 0], [6, 0, 0]])
        assert np.allclose(result.world_positions()[:, 1], [[5, 0, 2], [6, 0, -2]], atol=1e-6)

    def test_even_scale_is_applied(self, tmp_path):
        animation = """uniform token[] joints = ["a", "a/b"]
            quatf[] rotations = [(0,0,0,1), (1,0,0,0)]
            half3[] scales = [(0.5,0.5,0.5), (1,1,1)]"""
        result = load(tmp_path, usda(animation))
        assert np.allclose(result.world_positions()[0], [[0, 0, 0], [0, -1, 0]], atol=1e-6)
        assert np.allclose(result.skeleton.offsets[1], [0, 1, 0])

    def test_uneven_scale_keeps_positions(self, tmp_path):
        animation = """uniform token[] joints = ["a", "a/b"]
            quatf[] rotations = [(1,0,0,0), (1,0,0,0)]
            half3[] scales.timeSamples = { 0: [(1,3,1), (1,1,1)], 1: [(1,1,1), (1,1,1)] }"""
        with warns(kp.FormatWarning, code="uneven_scale"):
            result = load(tmp_path, usda(animation))
        assert np.allclose(result.world_positions()[:, 1], [[0, 6, 0], [0, 2, 0]])

    def test_what_is_not_read_is_noted(self, tmp_path):
        root = """def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"]) {
                def BlendShape "Smile" {
                }
            }
            def Mesh "Hat" {
            }
            def Skeleton "Dog" {
                uniform token[] joints = ["tail"]
            }"""
        (note,) = load(tmp_path, usda(root=root)).notes
        expected = "1 skinned mesh ('Body'); 1 prop ('Hat'); 1 morph target ('Smile'); 1 other skeleton ('Dog')"
        assert note == f"not read: {expected}" and note_code(note) == "not_read"

    def test_several_animations(self, tmp_path):
        second = """def SkelAnimation "Kick" { uniform token[] joints = ["a"]
            quatf[] rotations.timeSamples = { 0: [(1,0,0,0)], 1: [(1,0,0,0)], 2: [(1,0,0,0)] }
            }"""
        text = usda(root=second)
        assert load(tmp_path, text).n_frames == 2
        assert list_animations(tmp_path / "x.usda") == ("Wave", "Kick")
        assert any("2 animations" in note for note in load(tmp_path, text).notes)
        for which in ("Kick", 1, "/Root/Kick"):
            assert load(tmp_path, text, animation=which).n_frames == 3
        expected = "a name or a number from 0 of: 'Wave', 'Kick'"
        with raises(kp.OptionError, code="unknown_animation", value="Jump", expected=expected):
            load(tmp_path, text, animation="Jump")
        with raises(kp.OptionError, option="animation", value=2):
            load(tmp_path, text, animation=2)

    def test_invalid_options(self, tmp_path):
        with raises(kp.OptionError, option="fps", value=-1):
            load(tmp_path, usda(), fps=-1)
        with raises(kp.OptionError, option="animation", value=1.5):
            load(tmp_path, usda(), animation=1.5)

    @pytest.mark.data
    def test_the_examples_of_openusd(self, data_dir):
        result = kp.load(data_dir / "usd" / "lbs.usda")
        assert (result.n_frames, result.fps, result.first_frame) == (30, 24.0, 1)
        tip = result.world_positions()[:, 2]
        assert np.allclose(tip[0], [0, 1, 0], atol=1e-5)
        assert np.allclose(tip[-1], [-0.30484766, 0.8949245, 0.3258497], atol=1e-5)  # its own extentsHint
        result = kp.load(data_dir / "usd" / "skinnedArm.usda")
        assert (result.n_frames, result.metres_per_unit) == (10, 0.01)
        assert np.allclose(result.world_positions()[-1, 2], [0, -2, 2], atol=1e-3)
