"""The service: one index over HTTP, as a REST interface and as pages.

Only this package knows FastAPI, uvicorn, Jinja2 and httpx (extra ``web``). `calls`, `client` and `remote`, which ask a
service, do without them. The service asks an `Index` in threads (all but the shortest questions), and never opens a
path that a request names.
"""
