"""Routes parse, call and serialise; what they call lives elsewhere."""

from keypose.server.routes import (
    clip_export,
    clip_keys,
    clip_look,
    clip_pages,
    drafts,
    library,
    pages,
    search,
    strips,
    uploads,
)

# The pages come last: they take whatever address is left.
ROUTERS = (
    library.router,
    drafts.router,
    search.router,
    search.page,
    strips.router,
    uploads.router,
    clip_look.router,
    clip_keys.router,
    clip_export.router,
    clip_pages.router,
    pages.router,
)
