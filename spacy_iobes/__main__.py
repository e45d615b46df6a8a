"""`python -m spacy_iobes …` is the same as `spacy-iobes …`."""

from .cli import main

main()
