"""`make bench`: how fast the server is, beside a bare Tornado handler and a FastAPI application that does the same
accounting."""
