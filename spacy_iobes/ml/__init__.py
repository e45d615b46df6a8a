"""Thinc layers and models."""
