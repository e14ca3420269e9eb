"""Clips as files again: all that can be written are, and nothing else is touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.errors import FileError, OptionError
from keypose.library.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library(tmp_path / "clips.db")
    for start, name in enumerate(("walk", "Walk", "kick")):
        made.add(replace(kp.demo_motion(fps=10)[start : start + 12], name=name))
    return made


def test_a_damaged_clip_keeps_no_other_from_being_written(library: Library, tmp_path: Path) -> None:
    clip = library.clip("Walk")
    (tmp_path / "clips.db.blobs" / clip.blob[:2] / clip.blob).write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"1 of 3 clips were not written: Walk: .*is damaged"):
        library.export(tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_equal_names_have_the_same_file_every_time(library: Library, tmp_path: Path) -> None:
    them = {name: library.clip(name) for name in ("walk", "Walk", "kick")}
    wanted = {
        "walk": f"walk_{them['walk'].hash[:8]}.kps",
        "Walk": f"Walk_{them['Walk'].hash[:8]}.kps",
        "kick": "kick.kps",
    }
    for names in (("walk", "Walk", "kick"), ("kick", "Walk", "walk")):
        written = library.export(tmp_path / "out", [them[name] for name in names])
        assert [path.name for path in written] == [wanted[name] for name in names]
    library.rename("kick", f"Walk_{them['Walk'].hash[:8]}")
    longer = library.export(tmp_path / "again")
    assert len({path.name.lower() for path in longer}) == 3
    assert f"Walk_{them['Walk'].hash[:9]}.kps" in {path.name for path in longer}


def test_a_file_with_other_content_and_a_link_are_left_alone(library: Library, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kick.kps").write_bytes(b"mine")
    with pytest.raises(FileError, match=r"kick\.kps: is there with other content, expected a free name"):
        library.export(out)
    assert (out / "kick.kps").read_bytes() == b"mine"
    (out / "kick.kps").unlink()
    (out / "kick.kps").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"kick\.kps: is a link"):
        library.export(out)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("folder", ["x\0", "x" * 300, "\udcff\0"])
def test_a_folder_that_cannot_be_is_said(library: Library, tmp_path: Path, folder: str) -> None:
    with pytest.raises(FileError, match="cannot be made"):
        library.export(f"{tmp_path}/{folder}")


def test_what_is_no_folder_and_no_clip_is_said(library: Library, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="folder=3, expected the path of a folder"):
        library.export(3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"chosen has 'kick', expected clips, as clips\(\) and clip\(\) give them"):
        library.export(tmp_path / "out", ["kick"])  # type: ignore[list-item]
