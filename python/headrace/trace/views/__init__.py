"""Traces for people and for other tools: on the terminal, as a page, as files."""
