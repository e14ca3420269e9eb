"""Routes: parse, call and serialise."""

from keypose.server.routes import (
    clip_details,
    clip_export,
    clip_json,
    clip_keys,
    drafts,
    library,
    pages,
    search,
    strips,
    uploads,
)

# The pages come last: they match any other path.
ROUTERS = (
    library.router,
    drafts.router,
    search.router,
    search.page,
    strips.router,
    uploads.router,
    clip_details.router,
    clip_keys.keys_router,
    clip_export.router,
    clip_json.json_router,
    pages.router,
)
