"""Tagging strategies side by side: learners that differ in nothing but what they are told to."""
