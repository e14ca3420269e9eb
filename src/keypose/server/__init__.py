"""The web app: view, search, edit and export the clips of a library.

``app.py`` joins the routes of ``routes/``, which parse, call and serialise; ``schema/`` holds their request and
response types. ``middleware/`` wraps all of them. ``workers/`` computes in separate processes that can be killed.
``static/`` holds the built pages of ``web/``.
"""
