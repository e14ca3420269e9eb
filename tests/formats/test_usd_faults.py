"""Faulty, damaged and hostile USD files."""

from __future__ import annotations

import contextlib
import sys
import warnings

import numpy as np
import pytest

import keypose as kp
from keypose.formats import subprocess_readers
from keypose.limits import limit_hint
from support.errors import Pattern, raises, warns
from support.usd_files import load, motion, usda

pytest.importorskip("pxr", reason="USD needs usd-core")


class TestBadFiles:
    @pytest.mark.parametrize(
        ("text", "fields"),
        [
            ("#usda 1.0\n", {"problem": "no Skeleton prim (UsdSkel) in the scene"}),
            ("#usda 1.0\ndef {{{", {"problem": Pattern("^OpenUSD says: "), "line": 2}),
            (usda(skeleton="uniform token[] joints = []"), {"code": "missing_data", "problem": "the Skeleton has no joints", "expected": "at least one"}),
            (usda(skeleton='uniform token[] joints = ["a"]\nuniform int restTransforms = 1'), {"problem": Pattern(r"^restTransforms is .*, expected matrix4d\[\]$")}),
            (usda(skeleton="uniform int joints = 3"), {"problem": Pattern("^OpenUSD cannot read it .TypeError: ")}),
            (usda(skeleton='uniform token[] joints = ["a", "a"]'), {"code": "inconsistent", "problem": "a joint path is empty or listed twice", "expected": "each joint once"}),
            (usda(skeleton='uniform token[] joints = [""]'), {"code": "inconsistent", "problem": "a joint path is empty or listed twice", "expected": "each joint once"}),
            (usda('uniform token[] joints = ["z"]\nquatf[] rotations = [(1,0,0,0)]'), {"code": "missing_data", "problem": "the animation moves none of the skeleton's 2 joints"}),
            (usda('uniform token[] joints = ["a"]\nquatf[] rotations = [(1,0,0,0),(1,0,0,0)]'), {"problem": "rotations at time 0: 2 values, expected 1 (one per joint)"}),
            (usda('uniform token[] joints = ["a"]\nquatf[] rotations = [(0,0,0,0)]'), {"code": "bad_number", "problem": "frame 0, a: a rotation of length 0", "expected": "a unit quaternion"}),
            (usda('uniform token[] joints = ["a"]\nfloat3[] translations = [(nan,0,0)]'), {"code": "bad_number", "problem": "translations: nan at (0, 0, 0)", "expected": "finite numbers up to 1e+15"}),
            (usda('uniform token[] joints = ["a"]\nfloat3[] translations = [(inf,0,0)]'), {"code": "bad_number", "problem": "translations: inf at (0, 0, 0)", "expected": "finite numbers up to 1e+15"}),
            (usda('uniform token[] joints = ["a"]\nfloat3[] translations = [(1e30,0,0)]'), {"code": "bad_number", "problem": "translations: 1e+30 at (0, 0, 0)", "expected": "finite numbers up to 1e+15"}),
            (usda(scene="timeCodesPerSecond = 0"), {"problem": "0.0 time codes per second, expected a positive number and finite times"}),
            (usda(scene="timeCodesPerSecond = nan"), {"problem": "nan time codes per second, expected a positive number and finite times"}),
            (usda(scene="metersPerUnit = -1"), {"code": "bad_number", "problem": "-1.0 metres per unit", "value": -1.0, "expected": "a positive number"}),
            (usda().replace("SkelAnimation", "Scope"), {"problem": "a skeleton but no SkelAnimation, expected at least one"}),
        ],
    )  # fmt: skip
    def test_errors(self, text, fields, tmp_path):
        with raises(kp.FormatError, path=str(tmp_path / "x.usda"), **fields) as error:
            load(tmp_path, text)
        assert "keypose-" not in error.value.problem

    def test_scales_of_scales(self, tmp_path):
        joints = ["/".join(f"j{k}" for k in range(i + 1)) for i in range(90)]
        listed = ", ".join(f'"{path}"' for path in joints)
        animation = f"""uniform token[] joints = [{listed}]
            float3[] translations = [{", ".join(["(1,1,1)"] * 90)}]
            half3[] scales = [{", ".join(["(60000,60000,60000)"] * 90)}]"""
        with raises(
            kp.FormatError,
            code="inconsistent",
            path=str(tmp_path / "x.usda"),
            problem=Pattern("finite numbers up to 1e.15$"),
        ):
            load(tmp_path, usda(animation, f"uniform token[] joints = [{listed}]"))

    def test_bind_transforms_of_nothing(self, tmp_path):
        zero = "((0,0,0,0),(0,0,0,0),(0,0,0,0),(0,0,0,0))"
        skeleton = f'uniform token[] joints = ["a", "a/b"]\nuniform matrix4d[] bindTransforms = [{zero}, {zero}]'
        with raises(kp.FormatError, code="bad_number", problem="a bind transform cannot be inverted"):
            load(tmp_path, usda(skeleton=skeleton))

    def test_the_line_is_named(self, tmp_path):
        with pytest.raises(kp.FormatError) as error:
            load(tmp_path, "#usda 1.0\n\ndef Scope oops\n")
        assert error.value.line == 3

    @pytest.mark.parametrize("last", ["1e12", "1e300"])
    def test_a_gap_that_would_fill_the_memory(self, last, tmp_path):
        animation = f"""uniform token[] joints = ["a"]
            quatf[] rotations.timeSamples = {{ 0: [(1,0,0,0)], {last}: [(1,0,0,0)] }}"""
        with raises(kp.LimitError, hint=limit_hint("frames")):
            load(tmp_path, usda(animation))

    def test_too_many_joints_and_levels(self, tmp_path):
        joints = ", ".join(f'"j{i}"' for i in range(50))
        with raises(kp.LimitError, value=50, hint=limit_hint("joints")):
            load(tmp_path, usda(skeleton=f"uniform token[] joints = [{joints}]"), limits=kp.Limits(joints=20))
        deep = "/".join("j" * 30)
        with raises(kp.LimitError, hint=limit_hint("depth")):
            load(
                tmp_path,
                usda(f'uniform token[] joints = ["{deep}"]\nquatf[] rotations = [(1,0,0,0)]',
                     f'uniform token[] joints = ["{deep}"]'),
                limits=kp.Limits(depth=20),
            )  # fmt: skip

    def test_deep_nesting_is_survived(self, tmp_path):
        """OpenUSD's parser calls itself for each level and runs out of stack."""
        with raises(kp.FormatError, problem=Pattern("stopped by SIG|no Skeleton")):
            load(tmp_path, "#usda 1.0\n" + 'def "a" {\n' * 50_000 + "}\n" * 50_000)

    def test_references_that_multiply_are_survived(self, tmp_path, monkeypatch):
        """Thirty prims, each with two copies of the next: a billion in the scene."""
        copy = 'def "{}" (references = </p{}>) {{\n}}\n'
        levels = [f'class "p{i}" {{\n{copy.format("x", i + 1)}{copy.format("y", i + 1)}}}\n' for i in range(30)]
        text = "#usda 1.0\n" + "".join(levels) + 'class "p30" {\n}\ndef "all" (references = </p0>) {\n}\n'
        monkeypatch.setattr(subprocess_readers, "MIN_SECONDS", 4.0)
        with raises(
            kp.FormatError, code="format", problem=Pattern("did not finish within 4 s|stopped by SIG|MemoryError")
        ):
            load(tmp_path, text)

    @pytest.mark.parametrize("arc", ["references", "payload"])
    def test_other_files_are_not_opened(self, arc, tmp_path):
        secret = tmp_path / "secret.usda"
        secret.write_text(usda().replace("#usda 1.0\n(", '#usda 1.0\n(\n    defaultPrim = "Root"', 1))
        with raises(
            kp.FormatError, code="format", value=str(secret), problem=Pattern("no Skeleton .* which is not followed$")
        ):
            load(tmp_path, f'#usda 1.0\ndef "Root" (prepend {arc} = @{secret}@) {{}}\n')
        variant = f"""#usda 1.0
def "Root" (
    variants = {{ string v = "a" }}
    prepend variantSets = "v"
)
{{
    variantSet "v" = {{
        "a" ({arc} = @{secret}@) {{
        }}
    }}
}}
"""
        with raises(
            kp.FormatError, code="format", value=str(secret), problem=Pattern("no Skeleton .* which is not followed$")
        ):
            load(tmp_path, variant)

    def test_sublayers_and_clips_are_not_opened(self, tmp_path):
        secret = tmp_path / "secret.usda"
        secret.write_text(usda())
        with raises(
            kp.FormatError, code="format", value=str(secret), problem=Pattern("no Skeleton .* which is not followed$")
        ):
            load(tmp_path, f"#usda 1.0\n(\n    subLayers = [@{secret}@]\n)\n")
        with warns(kp.FormatWarning, code="unread_reference", value="./other.usda"):
            result = load(tmp_path, usda(scene=f"subLayers = [@{secret}@, @./other.usda@]"))
        assert result.n_frames == 2
        clips = f"""clips = {{ dictionary default = {{
            asset[] assetPaths = [@{secret}@]\nstring primPath = "/Root"\ndouble2[] active = [(0, 0)] }} }}"""
        text = usda().replace('def SkelRoot "Root" {', f'def SkelRoot "Root" ({clips}) {{')
        with warns(kp.FormatWarning, code="unread_reference", value="value clips"):
            load(tmp_path, text)

    def test_cut_binary_files(self, tmp_path):
        kp.save(motion(), tmp_path / "x.usdc")
        data = (tmp_path / "x.usdc").read_bytes()
        for part in (0.05, 0.5, 0.95):
            (tmp_path / "cut.usdc").write_bytes(data[: int(part * len(data))])
            with raises(kp.FormatError, path=str(tmp_path / "cut.usdc"), problem=Pattern("^OpenUSD says: ")):
                kp.load(tmp_path / "cut.usdc")

    def test_damaged_files_end_in_our_errors_and_in_silence(self, tmp_path, capfd):
        """OpenUSD itself crashes on about one damaged binary file in a thousand: see tests/fuzz for more of them."""
        rng = np.random.default_rng(11)
        for suffix in (".usda", ".usdc"):
            kp.save(motion(), tmp_path / f"x{suffix}")
            data = np.frombuffer((tmp_path / f"x{suffix}").read_bytes(), np.uint8)
            for _ in range(4):
                damaged = data.copy()
                at = rng.integers(8, len(data), 6)
                damaged[at] = rng.integers(0, 256, 6)
                (tmp_path / "damaged.usd").write_bytes(damaged.tobytes())
                with warnings.catch_warnings(), contextlib.suppress(kp.KeyposeError):
                    warnings.simplefilter("ignore", kp.FormatWarning)
                    kp.load(tmp_path / "damaged.usd")
        assert capfd.readouterr() == ("", "")

    def test_a_zip_package(self, tmp_path):
        (tmp_path / "x.usdz").write_bytes(b"PK\x03\x04" + bytes(100))
        with raises(kp.FormatError, code="unknown_format", problem="is a zip archive: unpack it first"):
            kp.load(tmp_path / "x.usdz")

    def test_without_openusd(self, tmp_path, monkeypatch):
        monkeypatch.setattr("keypose.formats.base.importlib.util.find_spec", lambda name: None)
        hint = "pip install 'keypose[usd]'"
        with raises(kp.MissingExtra, requirement="reading USD needs", install_hint=hint):
            load(tmp_path, usda())
        monkeypatch.setitem(sys.modules, "pxr", None)
        with raises(kp.MissingExtra, requirement="writing USD needs", install_hint=hint):
            kp.save(motion(), tmp_path / "x.usda")
