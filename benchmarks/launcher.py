"""Run one command and print its CPU seconds, wall seconds and peak of resident memory in bytes.

A script, not a module: `python -I -S launcher.py STDIN STDOUT COMMAND...`. A process counts the
memory of the one that started it as its own peak, so commands are started from here: about 9 MB is
the least that can be seen, not the hundreds of megabytes of a benchmark.
"""

import os
import sys
import time


def main() -> int:
    """Run, wait, print; the exit code is that of the command."""
    stdin, stdout, *command = sys.argv[1:]
    create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, stdout, create, 0o600),
    ]
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=streams)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(usage.ru_utime + usage.ru_stime, wall, peak)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
