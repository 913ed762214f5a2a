"""Measuring the engines: edits of our own text, and labelled sets that the repository does not hold."""
