"""The site in a real browser: Debian's chromium, driven by Playwright (`make test-browser`)."""
