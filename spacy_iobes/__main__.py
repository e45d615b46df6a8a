"""`python -m spacy_iobes …` is the same as `spacy-iobes …`."""

import os


def main() -> None:
    """Run a command, without the threads that numpy's BLAS starts and no command needs."""
    from .cli import signals

    signals.watch()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
