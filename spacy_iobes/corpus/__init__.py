"""Annotated text in and out: column files."""
