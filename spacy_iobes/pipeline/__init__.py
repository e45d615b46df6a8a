"""spaCy components and scorers."""
