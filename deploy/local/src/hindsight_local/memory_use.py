"""How much memory hindsight takes: proportional set size, so that shared pages are counted once."""

from collections import defaultdict
from collections.abc import Mapping

import psutil


def memory_by_program() -> Mapping[str, int]:
    """Bytes of this process and of everything below it, by what each is; private memory where PSS is not known."""
    sizes: dict[str, int] = defaultdict(int)
    launcher = psutil.Process()
    for process in [launcher, *launcher.children(recursive=True)]:
        try:
            memory = process.memory_full_info()
            name = "hindsight-local" if process == launcher else _name(process)
            sizes[name] += getattr(memory, "pss", 0) or memory.uss
        except psutil.Error:
            continue
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))


def _name(process: psutil.Process) -> str:
    """The program's name: a script's own, which the system cuts short or gives as the interpreter's."""
    name = process.name()
    arguments = [part.rpartition("/")[2] for part in process.cmdline() if not part.startswith("-")]
    if name.startswith("python"):
        return arguments[1] if len(arguments) > 1 else name
    title = next((part for part in arguments if part.startswith(name)), name)
    return title.split()[0].rstrip(":")  # "postgres: walwriter", "valkey-server 127.0.0.1:6379"


def describe_memory(sizes: Mapping[str, int]) -> str:
    """One line a program and the total, in MiB."""
    lines = [f"  {name:<20} {size / 2**20:7.1f} MiB" for name, size in sizes.items()]
    return "\n".join(["idle memory (PSS):", *lines, f"  {'total':<20} {sum(sizes.values()) / 2**20:7.1f} MiB"])
