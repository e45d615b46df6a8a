"""Processes that do jobs, and end with the process that has started them, however it ends.

This imports little: a worker watches its parent before it imports what jobs need.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
Work = Callable[[str, Job], Result]
"""Does a job, with the folder that all workers share."""


@contextmanager
def working(
    work: Work[Job, Result], count: int
) -> Iterator[tuple[str, Callable[[list[Job]], Iterator[Result]]]]:
    """Give a folder for what all jobs share, and a function that does jobs, in whatever order.

    When jobs are interrupted, no worker goes on with one.
    """
    with TemporaryDirectory() as folder:
        others = active_children()
        context = get_context("spawn")  # what a fork would copy may have threads of its own
        pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(folder,))
        try:
            yield (
                folder,
                lambda jobs: (
                    future.result() for future in as_completed(_submitted(pool, work, folder, jobs))
                ),
            )
        except BaseException:
            for worker in set(active_children()).difference(others):
                worker.kill()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _submitted(
    pool: ProcessPoolExecutor, work: Work[Job, Result], folder: str, jobs: list[Job]
) -> list[Future[Result]]:
    """Give jobs to workers; a signal waits until they are started, and they inherit that."""
    if os.name != "posix":
        return [pool.submit(work, folder, job) for job in jobs]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ending()})
    try:
        return [pool.submit(work, folder, job) for job in jobs]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ending() -> list[signal.Signals]:
    """The signals that end a worker; an interrupt from the keyboard is for its parent."""
    return [signal.SIGTERM, signal.SIGHUP]


def _begin(folder: str) -> None:
    """Begin a worker."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if os.name == "posix":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ending())
    Thread(target=_end_with_parent, args=(folder,), daemon=True).start()


def _end_with_parent(folder: str) -> None:
    """End this process when its parent ends, and clean up if the parent could not."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        rmtree(folder, ignore_errors=True)
        os._exit(1)
