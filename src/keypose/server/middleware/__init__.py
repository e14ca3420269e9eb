"""Middleware before every route. A request passes, from the outside in:

``Headers``          adds security headers to every response, errors too
``ErrorMiddleware``  turns exceptions into responses that disclose nothing about the machine
``HostCheck``        rejects requests for other host names
``OriginCheck``      rejects requests from pages of other sites
``BodyLimits``       rejects bodies that are too large or too slow
``Auth``             rejects requests without session or token
"""
