"""The web app: a library of clips to look at, search, choose keys from, edit and take away.

``app.py`` joins the routes of ``routes/``, which parse, call and serialise; ``schema/`` is what they speak. ``guard/``
stands before all of them. ``work/`` computes in processes of its own that may be ended. ``static/`` holds the built
pages of ``web/``.
"""
