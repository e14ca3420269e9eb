"""Cached editors of a worker."""

from __future__ import annotations

from keypose.clip_edit import ClipEditor
from keypose.server.workers.worker_context import WorkerContext


def get_editor(context: WorkerContext, digest: str) -> ClipEditor:
    """Return the editor of a clip from the cache, or a new one if the motion has changed."""
    motion = context.motion(digest)
    editor: ClipEditor = context.cache.get_or_make(digest, lambda: ClipEditor(motion))
    if editor.motion is not motion:
        editor = context.cache[digest] = ClipEditor(motion)
    return editor
