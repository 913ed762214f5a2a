"""The server of Screwtape.ai: the API, and the built site beside it."""
