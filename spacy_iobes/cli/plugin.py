"""Hangs the commands into spaCy's own command line; loaded by the entry point `spacy_cli`."""

from spacy.cli._util import app as spacy_app

from . import app

spacy_app.add_typer(app)
