"""The service: one index over HTTP, as a REST interface and as pages.

Only this package knows FastAPI, uvicorn and Jinja2 (extra ``web``); `client` does without them. It asks an `Index` in
threads, and never opens a path that a request names.
"""
