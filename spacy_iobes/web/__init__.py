"""The annotation page and its small server, an optional extra: spacy-iobes[annotate]."""
