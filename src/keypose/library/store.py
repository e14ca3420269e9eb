"""A database and its blobs: the argument of most functions of this package."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.errors import FormatError
from keypose.formats import Limits
from keypose.library.blobs import Blobs
from keypose.library.database import Database
from keypose.library.extra import sa
from keypose.library.records import Clip
from keypose.library.source_file import read_standalone, unzip_content
from keypose.library.tables import blobs
from keypose.library.text_normalization import file_stem
from keypose.model import Motion

# Only table ``blobs`` decides which blob may be deleted, and only with the write lock held: whoever adds a clip checks,
# with the same lock, that its blob exists.


@dataclass(frozen=True)
class Store:
    """The storage of a library, and the limits of reading."""

    database: Database
    blobs: Blobs
    limits: Limits

    def read_bytes(self, clip: Clip) -> bytes:
        """Return the stored bytes of a clip, checked."""
        return self.blobs.read(clip.blob, clip.bytes)

    def load_motion(self, clip: Clip) -> Motion:
        """Return the motion of a clip from its bytes."""
        placeholder = self.blobs.placeholder_path(f"{file_stem(clip.name)}{clip.suffix}")
        try:
            return read_standalone(
                unzip_content(self.read_bytes(clip), placeholder, self.limits), placeholder, self.limits
            )
        except FormatError as error:
            if error.path != str(placeholder):
                raise
            raise type(error)(f"{clip.name}{clip.suffix}", error.problem, line=error.line, byte=error.byte) from None

    def delete_unused_bytes(self, digest: str) -> bool:
        """Delete a blob unless a clip uses it; return whether it was deleted."""
        with self.database.begin_write() as connection:
            if connection.execute(sa.select(blobs.c.hash).where(blobs.c.hash == digest)).first():
                return False
            self.blobs.remove(digest)
            return True
