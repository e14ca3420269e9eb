"""Helpers for uploads."""

from __future__ import annotations

from pathlib import Path

import httpx

import keypose as kp
from support.live_server import LiveServer


def bvh(folder: Path, start: int, count: int = 40, fps: float = 30.0) -> bytes:
    """Return a BVH file that no other test uses."""
    path = folder / f"{start}-{count}-{fps:g}.bvh"
    kp.save(kp.demo_motion(fps)[start : start + count], path)
    return path.read_bytes()


def send(client: httpx.Client, data: bytes, name: str, **options: object) -> httpx.Response:
    return client.post("/api/uploads", params={"name": name, **options}, content=data)


def uploaded_files(live: LiveServer) -> set[Path]:
    """Return the uploaded files that this server has not removed yet."""
    paths = (path for folder in live.temporary.glob("keypose-uploads-*") for path in folder.iterdir())
    return {path for path in paths if path.is_file()}  # workers have folders there
