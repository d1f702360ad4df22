"""Becomes another program that does not outlive its parent; run by path, with the standard library only.

Usage: leash.py SIGNAL PARENT_PID UID GID PROGRAM [ARGUMENT ...]   (UID -1: stay who we are)
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(arguments: list[str]) -> None:
    """Drop to the user, ask the kernel for SIGNAL when the parent ends, and become the program."""
    signal_number, parent, user, group = (int(argument) for argument in arguments[:4])
    program = arguments[4:]
    if user >= 0:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    if sys.platform == "linux":  # after setuid, which would clear it; elsewhere the next start ends leftovers
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:  # it ended before the kernel knew
        sys.exit(1)
    os.execvp(program[0], program)  # noqa: S606 - the very purpose


if __name__ == "__main__":
    main(sys.argv[1:])
