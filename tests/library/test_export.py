"""Export of clips: everything that can be written is, and nothing else is changed."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError, OptionError
from keypose.library.library import Library
from support.errors import raises


@pytest.fixture
def library(tmp_path: Path) -> Library:
    new_library = Library(tmp_path / "clips.db")
    for start, name in enumerate(("walk", "Walk", "kick")):
        new_library.add(replace(kp.demo_motion(fps=10)[start : start + 12], name=name))
    return new_library


def test_a_damaged_clip_does_not_stop_the_export(library: Library, tmp_path: Path) -> None:
    clip = library.clip("Walk")
    (tmp_path / "clips.db.blobs" / clip.blob[:2] / clip.blob).write_bytes(b"damaged")
    with raises(FileError, code="file") as info:
        library.export(tmp_path / "out")
    assert info.value.problem.startswith("1 of 3 clips were not written: Walk: ")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_equal_names_have_the_same_file_every_time(library: Library, tmp_path: Path) -> None:
    clips = {name: library.clip(name) for name in ("walk", "Walk", "kick")}
    expected = {
        "walk": f"walk_{clips['walk'].hash[:8]}.kps",
        "Walk": f"Walk_{clips['Walk'].hash[:8]}.kps",
        "kick": "kick.kps",
    }
    for names in (("walk", "Walk", "kick"), ("kick", "Walk", "walk")):
        paths = library.export(tmp_path / "out", [clips[name] for name in names])
        assert [path.name for path in paths] == [expected[name] for name in names]
    library.rename("kick", f"Walk_{clips['Walk'].hash[:8]}")
    longer = library.export(tmp_path / "again")
    assert len({path.name.lower() for path in longer}) == 3
    assert f"Walk_{clips['Walk'].hash[:9]}.kps" in {path.name for path in longer}


def test_names_that_are_one_file_on_other_systems_get_their_hashes(library: Library, tmp_path: Path) -> None:
    """macOS ignores how letters with accents are composed, some systems fold "ß" to "ss"."""
    for clip, name in zip(library.clips(), ("caf\u00e9", "cafe\u0301", "stra\u00dfe"), strict=True):
        library.rename(clip.hash, name)
    library.add(replace(kp.demo_motion(fps=10)[5:17], name="STRASSE"))
    names = [path.name for path in library.export(tmp_path / "out")]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == 4
    assert sorted(name.rpartition("_")[0] for name in names) == ["STRASSE", "caf\u00e9", "caf\u00e9", "stra\u00dfe"]


def test_other_files_and_links_are_not_overwritten(library: Library, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kick.kps").write_bytes(b"mine")
    with raises(FileError, code="file") as info:
        library.export(out)
    assert f"{out / 'kick.kps'}: is there with other content" in info.value.problem
    assert (out / "kick.kps").read_bytes() == b"mine"
    (out / "kick.kps").unlink()
    (out / "kick.kps").symlink_to(tmp_path / "elsewhere")
    with raises(FileError, code="file") as info:
        library.export(out)
    assert f"{out / 'kick.kps'}: is a link" in info.value.problem
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("folder", ["x\0", "x" * 300, "\udcff\0"])
def test_an_invalid_folder_is_reported(library: Library, tmp_path: Path, folder: str) -> None:
    with raises(FileError, code="file"):
        library.export(f"{tmp_path}/{folder}")


def test_wrong_argument_types_are_reported(library: Library, tmp_path: Path) -> None:
    with raises(OptionError, option="folder", value=3):
        library.export(3)  # type: ignore[arg-type]
    with raises(OptionError, option="clips", value="kick"):
        library.export(tmp_path / "out", ["kick"])  # type: ignore[list-item]
