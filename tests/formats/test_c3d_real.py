"""Real C3D files of many systems, against the numbers that the packages ezc3d and c3d read."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

from keypose.errors import FormatError
from keypose.formats import load
from keypose.rotations import to_matrix
from support.errors import Pattern, raises

SIX = ("DEC_INT.C3D", "Dec_real.c3d", "pc_int.c3d", "pc_real.c3d", "sgi_int.c3d", "sgi_real.c3d")
SIX_SCALE = 0.2811819  # mm per integer step


def load_with_warnings(path: Path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return load(path, **options), [str(w.message) for w in caught]


def by_ezc3d(path: Path) -> np.ndarray:
    """Return positions (T, P, 3), NaN where missing."""
    return pytest.importorskip("ezc3d").c3d(str(path))["data"]["points"][:3].transpose(2, 1, 0)


def by_c3d(path: Path) -> np.ndarray:
    """Return positions (T, P, 3), NaN where missing."""
    package = pytest.importorskip("c3d")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = io.BytesIO(path.read_bytes())  # from a file it fails on bad-parameter-section.c3d
        points = np.array([points for _, points, _ in package.Reader(file).read_frames()])
    return np.where(points[..., 3:4] < 0, np.nan, points[..., :3])


@pytest.mark.data
@pytest.mark.parametrize(("name", "reader", "frames", "fps", "first"), [
    *((f"c3dorg_sample02/{name}", by_c3d, 89, 50.0, 1) for name in SIX),
    *((f"c3dorg_sample02/{name}", by_ezc3d, 89, 50.0, 1) for name in SIX[:4]),
    ("qualisys.c3d", by_ezc3d, 340, 200.0, 705),
    ("qualisys.c3d", by_c3d, 340, 200.0, 705),
    ("forceplate_type3.c3d", by_ezc3d, 2, 250.0, 1166),
    ("optotrak.c3d", by_ezc3d, 29, 30.0, 1),
    ("phasespace.c3d", by_c3d, 701, 30.0, 1),
    ("phoenix_golfswing_datastart0.c3d", by_c3d, 514, 107.5269, 1),
    ("bad-parameter-section.c3d", by_c3d, 332, 120.0, 1),
])  # fmt: skip
def test_real_files_have_the_numbers_that_the_packages_read(data_dir, name, reader, frames, fps, first):
    m, _ = load_with_warnings(data_dir / "c3d" / name)
    theirs = reader(data_dir / "c3d" / name)
    theirs = theirs[:, np.isfinite(theirs).all(axis=2).any(axis=0)]
    is_visible = np.isfinite(theirs).all(axis=2)
    assert (m.n_frames, m.first_frame, m.up) == (frames, first, "Z") and m.fps == pytest.approx(fps)
    assert is_visible.shape == (frames, m.n_joints)
    np.testing.assert_allclose(m.world_positions()[is_visible], theirs[is_visible], atol=1e-3)


@pytest.mark.data
def test_one_trial_in_six_encodings_is_one_motion(data_dir):
    motions = [load_with_warnings(data_dir / "c3d" / "c3dorg_sample02" / name)[0] for name in SIX]
    for other in motions[1:]:
        assert other.skeleton.names == motions[0].skeleton.names and other.metres_per_unit == 0.001
        np.testing.assert_allclose(other.translations, motions[0].translations, atol=1.01 * SIX_SCALE)


@pytest.mark.data
def test_warnings_about_real_files(data_dir):
    folder = data_dir / "c3d"
    m, messages = load_with_warnings(folder / "motion-analysis_mac.c3d")
    assert "the header's scale is 0.0551136, POINT:SCALE is 0.0215412; 0.0551136 is used" in messages[0]
    assert 1350 < m.height < 1500 and m.metres_per_unit == 0.001  # markers up to the shoulders of an adult, in mm
    assert "damaged at byte 5771" in load_with_warnings(folder / "bad-parameter-section.c3d")[1][0]
    assert "515 and 514 frames are declared" in load_with_warnings(folder / "phoenix_golfswing_datastart0.c3d")[1][0]
    assert "1149 frames are declared, but the file ends after 29" in load_with_warnings(folder / "optotrak.c3d")[1][0]
    assert "marker_040" in load_with_warnings(folder / "phasespace.c3d")[1][0]
    assert load_with_warnings(folder / "qualisys.c3d")[1] == []
    with raises(
        FormatError,
        code="missing_data",
        expected="no gaps",
        problem=Pattern(r"^frame 2: marker marker_011 was not seen \(in all 580 of 27339 "),
    ):
        load_with_warnings(folder / "phasespace.c3d", gaps="refuse")


@pytest.mark.data
def test_the_segments_of_a_markerless_system(data_dir):
    path = data_dir / "c3d" / "rotations.c3d"
    m, messages = load_with_warnings(path)
    assert m.skeleton.names[:3] == ("worldbody", "pelvis", "l_thigh") and (m.n_frames, m.fps) == (340, 85.0)
    assert "78 of 7140 positions, of 20 of 21 segments" in messages[0]
    theirs = pytest.importorskip("ezc3d").c3d(str(path))["data"]["rotations"].transpose(3, 2, 0, 1)
    is_visible = np.isfinite(theirs).all(axis=(2, 3))
    np.testing.assert_allclose(m.world_positions()[is_visible], theirs[is_visible][:, :3, 3], atol=1e-3)
    np.testing.assert_allclose(to_matrix(m.world_rotations()[is_visible]), theirs[is_visible][:, :3, :3], atol=1e-5)
    assert 1500 < m.height < 1800  # the head's origin over the floor, in mm
