"""Routes: parse, call and serialise."""

from keypose.server.routes import clips, drafts, export, library, pages, search, strips, uploads

# The pages come last: they match any other path.
ROUTERS = (
    library.router,
    drafts.router,
    search.router,
    search.page,
    strips.router,
    uploads.router,
    clips.router,
    clips.keys_router,
    export.router,
    clips.json_router,
    pages.router,
)
