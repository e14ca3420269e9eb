"""Clips that share a blob, and the same content in other compression."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.library import Library


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("walk") / "walk.bvh"
    kp.save(replace(kp.demo_motion(fps=10)[:12], name="walk"), path)
    return path.read_bytes()


@pytest.mark.parametrize("forever", [False, True])
def test_clips_that_share_a_blob_are_removed_independently(
    open_library: Callable[[], Library], walk: bytes, forever: bool
) -> None:
    library = open_library()
    one = library.add(walk, name="unix", tolerance_mm=1.0)
    two = library.add(walk.replace(b"\n", b"\r\n"), name="dos", tolerance_mm=1.0)
    assert one.hash != two.hash and one.blob == two.blob
    for name, n_left in (("unix", 1), ("dos", 0)):
        if forever:
            library.trash(name)
            assert [clip.name for clip in library.empty_trash(0)] == [name]
        else:
            library.remove(name)
        assert len(library) == n_left and library.verify() == ()
    assert not list(library._store.blobs.hashes())


@pytest.mark.parametrize("first_is_gzipped", [False, True])
def test_damaged_bytes_are_repaired_by_the_same_content_in_other_compression(
    tmp_path: Path, walk: bytes, first_is_gzipped: bool
) -> None:
    first, second = (gzip.compress(walk), walk) if first_is_gzipped else (walk, gzip.compress(walk))
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(first, name="walk")
        (tmp_path / "clips.db.blobs" / clip.blob[:2] / clip.blob).write_bytes(b"damaged")
        assert library.add(second, name="walk").hash == clip.hash
        assert library.verify() == () and library.original("walk") == second
        assert library.clip("walk").suffix == (".bvh" if first_is_gzipped else ".bvh.gz")
        assert library.get("walk").n_frames == 12
        library.add(first, name="walk")
        assert library.original("walk") == second  # which are sound
