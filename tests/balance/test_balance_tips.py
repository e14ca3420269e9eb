"""Which edits tip a figure over, and which do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.balance import balance, tips_over
from keypose.curves.edit.foot_plants import plant_feet
from keypose.errors import OptionError
from keypose.options import TipOptions
from reference import naive_balance as twin
from support.balance_cases import CLIPS, demo, lean, real, scale
from support.errors import raises


@pytest.mark.data
@pytest.mark.parametrize("name", CLIPS)
def test_small_edits_do_not_tip(data_dir, name):
    motion = real(data_dir, name)
    contacts = motion.foot_contacts()
    before = balance(motion, contacts=contacts)
    assert tips_over(before, before) == ()
    edits = [lean(motion, 12), lean(motion, -12)]
    edits += [plant_feet(motion, scale(motion, part, 1.2), contacts).motion for part in ("spine", "left_upper_arm")]
    for edited in edits:
        assert tips_over(before, balance(edited, contacts=contacts)) == ()


@pytest.mark.data
def test_standing_figure_that_leans_too_far_tips(data_dir):
    motion = real(data_dir, "49_02_jump-hop", 0, 100)
    contacts = kp.FootContacts(("left", "right"), np.ones((100, 2), bool))
    before = balance(motion, contacts=contacts)
    (tip,) = tips_over(before, balance(lean(motion, 40), contacts=contacts))
    assert (tip.start, tip.end) == (0, 99) and tip.after_mm < -20 and tip.before_mm > 60
    assert str(tip) == (
        f"tips over from 0.00 to 0.82 s: the centre of mass is {-tip.after_mm:.0f} mm outside the feet, "
        f"{tip.before_mm:.0f} mm inside before"
    )
    assert tips_over(before, balance(lean(motion, 15), contacts=contacts)) == ()
    # half as fast, and the lean begins in the middle
    source = np.arange(199) / 2
    slow = np.floor(source + 0.5).astype(int)
    leant = lean(motion, 40)
    mixed = np.where(source[:, None, None] > 50, leant.rotations[slow], motion.rotations[slow])
    moved = np.where(source[:, None, None] > 50, leant.translations[slow], motion.translations[slow])
    after = balance(
        replace(motion, rotations=mixed, translations=moved),
        contacts=kp.FootContacts(contacts.feet, np.ones((199, 2), bool)),
    )
    (tip,) = tips_over(before, after, source=source)
    assert 95 < tip.start < 115 and tip.end == 198
    with raises(OptionError, option="source", expected="the frame that each of them was before"):
        tips_over(before, after)


@pytest.mark.data
@pytest.mark.parametrize("name", ["135_07_kicking", "86_01_mixed-jumps-kicks-punches"])
def test_larger_kick_tips_only_if_the_standing_foot_moves_too(data_dir, name):
    motion = real(data_dir, name, 0, 1400)
    contacts = motion.foot_contacts()
    before = balance(motion, contacts=contacts)
    for factor, falls in ((1.1, False), (2.0, True)):
        larger = scale(scale(motion, "right_thigh", factor), "left_thigh", factor)
        assert bool(tips_over(before, balance(larger, contacts=contacts))) == falls
        fixed_foot = plant_feet(motion, larger, contacts).motion
        assert tips_over(before, balance(fixed_foot, contacts=contacts)) == ()


@pytest.mark.data
def test_spans_like_the_twin(data_dir):
    motion = real(data_dir, "86_01_mixed-jumps-kicks-punches", 0, 1200)
    contacts = motion.foot_contacts()
    before, after = balance(motion, contacts=contacts), balance(lean(motion, 45), contacts=contacts)
    best = [np.maximum(b.margin_mm, b.extrapolated_margin_mm).tolist() for b in (before, after)]
    expected = twin.tipping_frames(*best, motion.fps, TipOptions.worse_mm)
    result = tips_over(before, after, min_duration_s=0)
    texts = np.zeros(len(expected), bool)
    for tip in result:
        texts[tip.start : tip.end + 1] = True
        assert tip.start <= tip.worst <= tip.end and not (expected[tip.start - 1] if tip.start else False)
        assert tip.after_mm == after.margin_mm[tip.start : tip.end + 1].min() == after.margin_mm[tip.worst]
        assert tip.before_mm == before.margin_mm[tip.worst]
    assert texts.tolist() == expected and texts.any() and not texts.all()
    longer = tips_over(before, after)
    assert longer == tuple(tip for tip in result if tip.end + 1 - tip.start >= 12) and len(longer) > 0


def test_invalid_arguments():
    result = balance(demo()[:60])
    for options, fields in (
        ({"source": np.arange(60) + 1.0}, {"option": "source", "expected": "some of 0 to 59"}),
        ({"source": np.zeros(3)}, {"code": "model", "option": "source", "expected": "(60)"}),
        ({"min_duration_s": -1}, {"option": "min_duration_s", "value": -1, "expected": "a number of at least 0"}),
        ({"worse_mm": "much"}, {"option": "worse_mm", "value": "much", "expected": "a number of at least 0"}),
    ):
        with raises(OptionError, **fields):
            tips_over(result, result, **options)


# docs/balance.md
