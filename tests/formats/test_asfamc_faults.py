"""ASF/AMC: every fault with its file and line, truncated files, limits, mutated files."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatError, FormatWarning, KeyposeError, LimitError
from keypose.formats.base import Limits
from keypose.limits import limit_hint
from support.acclaim import AMC, ASF, swap, write
from support.errors import raises, warns

# Faults, each with its line

ASF_FAULTS = {
    "bad angle unit": ("angle deg", "angle grad", 7, {"code": 'syntax', "expected": 'deg or rad'}),
    "zero length unit": ("length 0.45", "length 0", 6, {"code": 'bad_number', "expected": 'a unit from 1e-09 to 1e+09'}),
    "tiny length unit": ("length 0.45", "length 1e-320", 6, {"code": 'bad_number', "expected": 'a unit from 1e-09 to 1e+09'}),
    "tiny length unit above the least float": ("length 0.45", "length 2e-310", 6, {"code": "bad_number", "expected": "a unit from 1e-09 to 1e+09"}),
    "huge length unit": ("length 0.45", "length 1e300", 6, {"code": 'bad_number', "expected": 'a unit from 1e-09 to 1e+09'}),
    "unit no number": ("length 0.45", "length inch", 6, {"code": 'bad_number', "expected": 'a finite number'}),
    "mass twice": ("mass 1.0", "mass 1 2", 5, {"code": 'syntax', "expected": '1'}),
    "no root order": ("   order TX TY TZ RX RY RZ\n", "", 45, {"code": 'missing_data', "expected": 'one such as TX TY TZ RX RY RZ'}),
    "root order repeats": ("TX TY TZ", "TX TX TZ", 11, {"code": 'syntax', "expected": 'each of tx ty tz rx ry rz at most once'}),
    "root axis": ("   axis XYZ", "   axis XYX", 12, {"code": 'syntax', "expected": 'one of XYZ, XZY, YXZ, YZX, ZXY, ZYX'}),
    "short position": ("position 0 0 0", "position 0 0", 13, {"code": 'syntax', "expected": '3'}),
    "nan orientation": ("orientation 0 0 0", "orientation 0 nan 0", 14, {"code": 'bad_number', "expected": 'a finite number'}),
    "id": ("id 2", "id two", 28, {"code": 'bad_number', "expected": 'a whole number'}),
    "negative id": ("id 2", "id -2", 28, {"code": 'bad_number', "expected": 'a whole number'}),
    "same id": ("id 2", "id 1", 28, {"code": 'inconsistent', "problem": 'id 1 is used by two bones'}),
    "same name": ("name shin", "name thigh", 29, {"code": 'inconsistent', "problem": "the bone name 'thigh' is used more than once"}),
    "root as bone": ("name shin", "name root", 29, {"code": 'inconsistent', "problem": "the bone name 'root' is used more than once"}),
    "two words": ("name shin", "name left shin", 29, {"code": 'syntax', "expected": 'one word'}),
    "no name": ("     name shin\n", "", 27, {"code": 'missing_data', "problem": 'a bone without a name'}),
    "no direction": ("     direction 0.6 -0.8 0\n", "", 27, {"code": 'missing_data', "problem": "bone 'shin' has no direction"}),
    "no length": ("     length 5\n", "", 27, {"code": 'missing_data', "problem": "bone 'shin' has no length"}),
    "zero direction": ("0.6 -0.8 0", "0 0 0", 27, {"code": 'inconsistent', "problem": "bone 'shin' has length 5 but direction 0 0 0"}),
    "huge direction": ("0.6 -0.8 0", "1.7e308 1.7e308 0", 27, {"code": 'bad_number', "problem": "bone 'shin' has a direction too long to compute with"}),
    "infinite direction": ("0.6 -0.8 0", "1e999 0 0", 30, {"code": 'bad_number', "expected": 'a finite number'}),
    "negative length": ("length 5", "length -5", 31, {"code": 'bad_number', "expected": '0 or more'}),
    "short axis": ("axis 30 -40 50 XYZ", "axis 30 -40", 32, {"code": 'syntax', "expected": '3'}),
    "axis order": ("axis 30 -40 50 XYZ", "axis 30 -40 50 XY", 32, {"code": 'syntax', "expected": 'one of XYZ, XZY, YXZ, YZX, ZXY, ZYX'}),
    "unknown dof": ("dof rx rz", "dof rx rw", 33, {"code": 'syntax', "expected": 'each of tx ty tz rx ry rz l at most once'}),
    "dof twice": ("dof rx rz", "dof rx rx", 33, {"code": 'syntax', "expected": 'each of tx ty tz rx ry rz l at most once'}),
    "limit": ("(-inf inf)", "(-inf high)", 24, {"code": 'bad_number', "expected": 'a number or inf'}),
    "between bones": ("  begin\n     id 2", "  x\n     id 2", 27, {"code": 'syntax', "expected": "'begin'"}),
    "bone in a bone": ("rx rz\n  end\n", "rx rz\n", 34, {"code": 'syntax', "expected": "'end' first"}),
    "section in a bone": ("2.5\n     axis 0 0 0 XYZ\n  end\n", "2.5\n", 40, {"code": 'syntax', "expected": "'end' first"}),
    "no section": (":version 1.10", "version 1.10", 2, {"code": 'syntax', "expected": 'a section such as :version or :bonedata'}),
    "unknown parent": ("thigh shin\n", "leg shin\n", 45, {"code": 'missing_data', "problem": "no bone 'leg' in :bonedata"}),
    "unknown child": ("thigh shin\n", "thigh shine\n", 45, {"code": 'missing_data', "problem": "no bone 'shine' in :bonedata"}),
    "orphan": ("    thigh shin\n", "", 27, {"code": 'missing_data', "expected": 'a parent for it'}),
    "two parents": ("thigh shin\n", "thigh arm\n", 45, {"code": 'inconsistent', "problem": "bone 'arm' as a child of 'thigh', but line 44 says 'root'"}),
    "root below": ("thigh shin\n", "thigh shin root\n", 45, {"code": 'inconsistent', "expected": 'it on top'}),
    "own parent": ("thigh shin\n", "shin shin\n", 45, {"code": 'inconsistent', "problem": "bone 'shin' is its own ancestor or hangs on one that is"}),
    "circle": ("root thigh arm\n", "root arm\n    shin thigh\n", 45, {"code": 'inconsistent', "problem": "bone 'thigh' is its own ancestor or hangs on one that is"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", ASF_FAULTS)
@pytest.mark.filterwarnings("ignore::keypose.errors.FormatWarning")
def test_faults_of_the_skeleton(tmp_path, fault):
    old, new, line, fields = ASF_FAULTS[fault]
    with raises(FormatError, **fields) as caught:
        kp.load(write(tmp_path, swap(ASF, old, new)))
    assert (Path(caught.value.path).name, caught.value.line) == ("leg.asf", line)


@pytest.mark.parametrize("lines", range(1, len(ASF.splitlines()) - 1))
def test_a_skeleton_cut_short(tmp_path, lines):
    text = "".join(ASF.splitlines(keepends=True)[:lines])
    with pytest.raises(FormatError) as caught:
        kp.load(write(tmp_path, text))
    assert caught.value.code in ("missing_data", "truncated")
    assert Path(caught.value.path).name == "leg.asf" and 1 <= caught.value.line <= lines + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dof rx rz", "colour green"),
        ("mass 1.0", "weight 1.0"),
        ("axis XYZ\n   position", "angle 1\n   position"),
        (":documentation", ":muscles"),
    ],
)
def test_unknown_keywords_are_ignored_with_a_warning(tmp_path, old, new):
    asf = swap(ASF, old, new)
    motion = re.sub("shin.*\n", "", AMC) if "colour" in new else AMC
    with warns(FormatWarning, code="unknown_word", path=str(tmp_path / "leg.asf"), value=new.split()[0]) as records:
        m = kp.load(write(tmp_path, asf, motion))
    assert records[0].message.line is not None
    assert any("is unknown" in note for note in m.notes)


def test_keywords_of_the_format_that_are_not_needed(tmp_path):
    asf = swap(ASF, "dof rx rz", "dof rx rz\n     bodymass 10.0\n     cofmass 1.0") + ":skin\n  skin.obj\n"
    assert kp.load(write(tmp_path, asf)).n_frames == 3


AMC_FAULTS = {
    "no frames": (AMC[AMC.index("1\nroot") :], "", 3, {"code": 'missing_data', "expected": 'a frame number on a line of its own'}),
    "junk before": (":DEGREES", "DEGREES", 3, {"code": 'syntax', "expected": ':FULLY-SPECIFIED, :DEGREES, :RADIANS or a frame number'}),
    "unknown bone": ("thigh 21", "femur 21", 10, {"code": 'inconsistent', "problem": "frame 2 moves 'femur', but there is no such bone in leg.asf"}),
    "too few values": ("21 -22 +23", "21 -22", 10, {"code": 'inconsistent', "expected": '3 (rx ry rz) by leg.asf'}),
    "too many values": ("-.5 1.5E+1", "-.5 1 2", 11, {"code": 'inconsistent', "expected": '2 (rx rz) by leg.asf'}),
    "still bone moves": ("-.5 1.5E+1", "-.5 1\narm 4", 12, {"code": 'inconsistent', "expected": '0 (it does not move) by leg.asf'}),
    "missing bone": ("thigh 21 -22 +23\n", "", 8, {"code": 'missing_data', "expected": '3 (rx ry rz) by leg.asf'}),
    "missing root": ("root 1.5 2 3 -10 20 30\n", "", 8, {"code": 'missing_data', "expected": '6 (tx ty tz rx ry rz) by leg.asf'}),
    "missing bone at last": ("thigh 31 -32 33\n", "", 12, {"code": 'missing_data', "expected": '3 (rx ry rz) by leg.asf'}),
    "bone twice": ("shin -.5 1.5E+1", "shin 1 2\nshin 1 2", 12, {"code": 'inconsistent', "problem": "frame 2 has a second line for bone 'shin'"}),
    "nan": ("21 -22", "nan -22", 10, {"code": 'bad_number', "value": 'nan', "expected": 'a finite number'}),
    "infinity": ("21 -22", "-inf -22", 10, {"code": 'bad_number', "value": '-inf', "expected": 'a finite number'}),
    "overflow": ("21 -22", "1e999 -22", 10, {"code": 'bad_number', "value": '1e999', "expected": 'a finite number'}),
    "word": ("21 -22", "21 x", 10, {"code": 'bad_number', "value": 'x', "expected": 'a finite number'}),
    "python number": ("21 -22", "2_1 -22", 10, {"code": 'bad_number', "value": '2_1', "expected": 'a finite number'}),
    "glued numbers": ("21 -22 +23", "21 -22 +23-4", 10, {"code": 'bad_number', "value": '+23-4', "expected": 'a finite number'}),
    "shifted values": ("-10 20 30\nthigh 21", "-10 20\nthigh 30 21", 9, {"code": 'inconsistent', "expected": '6 (tx ty tz rx ry rz) by leg.asf'}),
    "missing frame": ("\n3\n", "\n4\n", 12, {"code": 'inconsistent', "expected": '3'}),
    "frame again": ("\n3\n", "\n2\n", 12, {"code": 'inconsistent', "expected": '3'}),
    "keyword inside": ("\n3\n", "\n:RADIANS\n3\n", 12, {"code": 'inconsistent', "problem": "frame 2 moves ':RADIANS', but there is no such bone in leg.asf"}),
    "huge frame number": ("\n3\n", "\n3000000000000\n", 12, {"code": 'inconsistent', "problem": "frame 2 moves '3000000000000', but there is no such bone in leg.asf"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", AMC_FAULTS)
def test_faults_of_the_motion(tmp_path, fault):
    old, new, line, fields = AMC_FAULTS[fault]
    with raises(FormatError, **fields) as caught:
        kp.load(write(tmp_path, motion=swap(AMC, old, new)))
    assert (Path(caught.value.path).name, caught.value.line) == ("leg.amc", line)


@pytest.mark.parametrize("first", [1, 9])
def test_a_motion_cut_anywhere(tmp_path, first):
    """A truncated file gives its complete frames with a warning, or an error if there is none."""
    number = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
    whole = re.compile(
        rf"\d+\nroot(?: {number}){{6}}\nthigh(?: {number}){{3}}\nshin(?: {number}){{2}}(?:\n|$)", re.ASCII
    )
    text = re.sub(r"^(\d)$", lambda found: str(first - 1 + int(found[1])), AMC, flags=re.MULTILINE)
    start = text.index(f"{first}\nroot")
    for end in range(1, len(text)):
        frames, rest = 0, text[start:end]
        while result := whole.match(rest):
            frames, rest = frames + 1, rest[result.end() :]
        path = write(tmp_path, motion=text[:end])
        if not frames:
            with pytest.raises(KeyposeError):
                kp.load(path)
        elif rest:
            with warns(FormatWarning, code="incomplete_frame", value=first + frames):
                assert kp.load(path).n_frames == frames
        else:
            assert kp.load(path).n_frames == frames


def test_faults_that_no_truncation_explains(tmp_path):
    for line in ("shin 0 nan", "shin -inf 0"):
        with raises(
            FormatError, code="bad_number", line=15, subject="frame 3, bone 'shin'", expected="a finite number"
        ):
            kp.load(write(tmp_path, motion=swap(AMC, "shin 0 -0\n", line)))
    with raises(FormatError, code="inconsistent", line=15, expected="2 (rx rz) by leg.asf"):
        kp.load(write(tmp_path, motion=swap(AMC, "shin 0 -0\n", "shin 0\n")))


def test_a_cut_line_that_takes_nothing_away(tmp_path):
    path = write(tmp_path, motion=AMC + "ar")
    with warns(FormatWarning, code="incomplete_frame", path=str(path), line=16):
        assert kp.load(path).n_frames == 3


def test_an_unknown_keyword_of_the_motion(tmp_path):
    """The message pins the wording of this warning."""
    path = write(tmp_path, motion=swap(AMC, ":DEGREES", ":MYSTERY 5\n:OTHER\n:DEGREES"))
    with warns(FormatWarning, code="unknown_word", path=str(path), line=3, value=":MYSTERY") as records:
        kp.load(path)
    message = f"{path}:3: the keyword ':MYSTERY' (and 1 more) is unknown and is left out"
    assert [str(record.message) for record in records] == [message]


# Limits


def chain(bones: int) -> str:
    blocks = "".join(f"begin\n name b{k}\n direction 0 1 0\n length 1\nend\n" for k in range(bones))
    lines = "".join(f"b{k - 1} b{k}\n" if k else "root b0\n" for k in range(bones))
    return f":root\n order TX TY TZ RX RY RZ\n:bonedata\n{blocks}:hierarchy\nbegin\n{lines}end\n"


def test_limits(tmp_path):
    motion = ":DEGREES\n" + "".join(f"{k}\nroot 0 0 0 0 0 0\n" for k in range(1, 4))
    path = write(tmp_path, chain(1500), motion)
    with raises(LimitError, line=8505, value=1001, hint=limit_hint("depth")):
        kp.load(path)
    m = kp.load(path, limits=Limits(depth=2000))  # no recursion
    assert m.n_joints == 1501
    assert m.world_positions()[0, -1, 1] == pytest.approx(1499)
    with raises(LimitError, line=499, value=101, hint=limit_hint("joints")):
        kp.load(path, limits=Limits(joints=100))
    for text in (motion, motion.replace("\n", "\n\n")):
        path.write_text(text)
        with raises(LimitError, value=3, hint=limit_hint("frames")):
            kp.load(path, limits=Limits(depth=2000, frames=2))
    path.write_text(":DEGREES\n" + "".join(f"{k}\nroot 0 0 0 0 0 0\n" for k in range(1, 6500)))
    with raises(LimitError, hint=limit_hint("expansion")):
        kp.load(path, limits=Limits(depth=2000))


def test_long_words_take_no_long_time(tmp_path):
    digits = "1" * 200_000
    begin = time.perf_counter()
    with pytest.raises(FormatError):
        kp.load(write(tmp_path, swap(ASF, "length 5", f"length {digits}x")))
    with pytest.raises(FormatError):
        kp.load(write(tmp_path, motion=swap(AMC, "thigh 21", f"thigh {digits}x")))
    with warns(FormatWarning, code="unknown_word", value=":X") as records:
        kp.load(write(tmp_path, motion=swap(AMC, ":DEGREES", ":X\n" * 200_000 + ":DEGREES")))
    assert len(records) == 1 and "199999 more" in records[0].message.problem
    assert time.perf_counter() - begin < 5.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::keypose.errors.FormatWarning")
def test_mutated_files_end_in_a_motion_or_in_our_errors(tmp_path, seed):
    rng = np.random.default_rng(seed)
    tokens = [
        b" ",
        b"\n",
        b"\r",
        b"#",
        b":",
        b"-",
        b".",
        b"e",
        b"9" * 30,
        b"nan",
        b"end",
        b"begin",
        b"root",
        b"\x00\xff",
    ]
    outcomes = {"loaded": 0, "refused": 0}
    for k in range(150):
        texts = [bytearray(ASF.encode()), bytearray(AMC.encode())]
        text = texts[k % 2]
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(len(text)))
            action = rng.integers(4)
            if action == 0:
                text[at] = int(rng.integers(256))
            elif action == 1:
                del text[at : at + int(rng.integers(1, 30))]
            elif action == 2:
                text[at:at] = tokens[rng.integers(len(tokens))]
            else:
                other = int(rng.integers(len(text)))
                text[at:at] = text[other : other + 40]
        (tmp_path / "m.asf").write_bytes(texts[0])
        (tmp_path / "m.amc").write_bytes(texts[1])
        try:
            kp.load(tmp_path / "m.amc")
            outcomes["loaded"] += 1
        except KeyposeError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10  # both ways were taken
