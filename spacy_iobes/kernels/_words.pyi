from .words_python import describe as describe
