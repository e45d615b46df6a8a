"""Signals that ask a command to end: it has two seconds, and its exit code is 128 + the signal.

In the body of a command a signal unwinds the stack, so that half-written files are removed and
other processes end. Before and after that there is nothing to unwind.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any, NoReturn

UNWINDING = 1.7
"""Seconds that a command may take to unwind."""
TICK = 0.05
CODES = {
    int(getattr(signal, name)): 128 + int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
}
"""The exit code of each signal that ends a command."""


class Ended(SystemExit):
    """Raised where a signal arrives; libraries that catch every `Exception` let it pass."""


class _Process:
    """The state of this process while it ends."""

    code = 0  # of the signal that arrived in the body of a command
    watched = False  # whether a thread sees to it that the process ends in time
    dropped = False  # whether Python has dropped `Ended`, as it does in callbacks
    left = ""  # what is still on disk if a command cannot unwind in time


def watch() -> None:
    """Let signals end this process, which runs one command: at once, but in its body in time."""
    for number in _heeded():
        signal.signal(number, _leave_at_once)
    if os.name != "posix":  # there a process is ended without being asked
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = _without_ended
    threading.Thread(target=_end_in_time, args=(reading,), daemon=True).start()
    _Process.watched = True


def say_if_cut_off(text: str) -> None:
    """Set what is printed if the command cannot unwind in time: what is on disk by then."""
    _Process.left = text


@contextmanager
def unwinding() -> Iterator[None]:
    """Raise `Ended` where a signal arrives, and again at the end if something has swallowed it."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, _unwind) for number in _heeded()}
    try:
        yield
    except BaseException as error:
        if _Process.code and not isinstance(error, Ended):
            raise Ended(_Process.code) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        code, _Process.code = _Process.code, 0
    if code:
        raise Ended(code)


def leave(code: int) -> NoReturn:
    """End this process: do what was left for its end, but do not wait for its threads."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _heeded() -> list[int]:
    """Return the signals that are not ignored, as `nohup` and shells have it for some processes."""
    return [number for number in CODES if signal.getsignal(number) is not signal.SIG_IGN]


def _leave_at_once(number: int, _: object) -> NoReturn:
    os._exit(CODES[number])


def _unwind(number: int, _: object) -> None:
    again, _Process.code = _Process.code, CODES[number]
    if again and not _Process.dropped:  # it is unwinding already
        if not _Process.watched:
            os._exit(CODES[number])
        return
    _Process.dropped = False
    raise Ended(CODES[number])


def _without_ended(unraisable: Any) -> None:
    """Note that `Ended` was dropped, and say nothing; report any other exception."""
    if isinstance(unraisable.exc_value, Ended):
        _Process.dropped = True
    else:
        sys.__unraisablehook__(unraisable)


def _end_in_time(reading: int) -> NoReturn:
    """Wait for a signal, whatever the main thread does, and give the command its time."""
    signal.pthread_sigmask(signal.SIG_BLOCK, CODES)  # they are for the main thread
    main, number = threading.main_thread(), 0
    while number not in CODES:
        number = os.read(reading, 1)[0]
    end = monotonic() + UNWINDING
    while monotonic() < end:
        sleep(TICK)
        if _Process.dropped and main.ident is not None:
            signal.pthread_kill(main.ident, number)
    if _Process.left:
        os.write(2, f"{_Process.left}\n".encode())
    os._exit(CODES[number])
