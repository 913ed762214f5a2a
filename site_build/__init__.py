"""Builds the site: content/ and templates/ in, dist/ out. Run it with `python -m site_build`."""
