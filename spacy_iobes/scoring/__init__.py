"""Scores of span tags that carry their recipe: counts, matching, signatures, significance."""
