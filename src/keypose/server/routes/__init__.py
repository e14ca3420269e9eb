"""Routes: parse, call and serialise."""

from keypose.server.routes import clips, drafts, export, library, pages, search, strips, uploads

# The pages come last: they match any other path.
ROUTERS = (
    library.router,
    drafts.router,
    search.router,
    strips.router,
    uploads.router,
    clips.router,
    export.router,
    pages.router,
)
