"""Files on their way into a server."""

from __future__ import annotations

from pathlib import Path

import httpx
from server_live import Live

import keypose as kp


def bvh(folder: Path, start: int, count: int = 40, fps: float = 30.0) -> bytes:
    """A file that no other test uses."""
    path = folder / f"{start}-{count}-{fps:g}.bvh"
    kp.save(kp.demo_motion(fps)[start : start + count], path)
    return path.read_bytes()


def send(client: httpx.Client, data: bytes, name: str, **options: object) -> httpx.Response:
    return client.post("/api/uploads", params={"name": name, **options}, content=data)


def waiting_files(live: Live) -> set[Path]:
    """Of this server: others may run at the same time."""
    found = (path for folder in live.temporary.glob("keypose-uploads-*") for path in folder.iterdir())
    return {path for path in found if path.is_file()}  # workers have folders there
