"""The built pages, read once and compressed. Names are looked up in a dictionary, so no URL can name another file."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("static")
INDEX = "index.html"
IMMUTABLE = "public, max-age=31536000, immutable"  # names hold a hash of the content
REVALIDATE = "no-cache"
MAX_GZIP_RATIO = 0.9  # compressed to uncompressed size, for the compressed file to be sent
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True)
class StaticFile:
    """A file with its headers."""

    data: bytes
    gzipped: bytes | None  # None: hardly smaller
    media_type: str
    etag: str
    cache_control: str


class StaticFiles:
    """All files of the pages; read again after a new build."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self._built_at: float | None = None
        self._files: dict[str, StaticFile] = {}

    @property
    def index(self) -> StaticFile | None:
        """The HTML file of all pages; None: the pages were not built."""
        self.reload()
        return self._files.get(INDEX)

    def get(self, name: str) -> StaticFile | None:
        """Return a file by name, such as ``assets/main-1a2b.js``; None: no such file."""
        if name not in self._files:
            self.reload()
        return self._files.get(name)

    def reload(self) -> None:
        """Read the files again if they were built since."""
        try:
            built_at = (self.folder / INDEX).stat().st_mtime
        except OSError:
            self._built_at, self._files = None, {}
            return
        if built_at != self._built_at:
            self._files = {
                path.relative_to(self.folder).as_posix(): _read_file(path, in_assets=path.parent.name == "assets")
                for path in sorted(self.folder.rglob("*"))
                if path.is_file()
            }
            self._built_at = built_at


FILES = StaticFiles()


def _read_file(path: Path, *, in_assets: bool) -> StaticFile:
    data = path.read_bytes()
    gzipped = gzip.compress(data, 9, mtime=0)
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return StaticFile(
        data,
        gzipped if len(gzipped) < MAX_GZIP_RATIO * len(data) else None,
        media_type,
        f'"{hashlib.sha256(data).hexdigest()[:32]}"',
        IMMUTABLE if in_assets else REVALIDATE,
    )
