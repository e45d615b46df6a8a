"""The name and version of the package, read by `setup.py` without importing anything."""

__title__ = "spacy-iobes"
__version__ = "0.2.0.dev0"
