"""The annotation page and its small server, an optional extra: spacy-iobes[annotate]."""

from importlib.util import find_spec

from ..errors import FileError

NEEDED = ("starlette", "uvicorn")


def require_server() -> None:
    """Raise if what the page needs is not installed."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise FileError(
            f"The page needs {' and '.join(missing)}: pip install 'spacy-iobes[annotate]'"
        )
