"""Learners on features found once: they know features and classes, and nothing of Docs."""
