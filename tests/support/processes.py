"""Fill in expressions and read values, each in a process of its own: what comes of it, and what it takes.

Run with the names of a module and of its list, it prints a line of JSON for each member. The libraries are imported
once, before the processes fork, so that none has a thread yet.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SECONDS, MEGABYTES = 3.0, 1_000  # that each may take
HERE = Path(__file__).parent


class Outcome(NamedTuple):
    """What came of one: text or error, "" where its process died; seconds; MB at most; and whether all works after."""

    what: str
    said: str
    seconds: float
    cpu: float
    megabytes: float
    works: bool


def each_in_a_process(kind: str, members: Sequence[str], at_once: int = 2) -> list[Outcome]:
    """Return what comes of "expressions" or "values"."""
    command = [sys.executable, __file__, kind, str(at_once)]
    run = subprocess.run(command, input=json.dumps(list(members)), capture_output=True, text=True, check=True)
    return [Outcome(*json.loads(line)) for line in run.stdout.splitlines()]


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    return InteractiveShell.instance(config=config)


def _filled(expression: str) -> tuple[str, float, float, bool]:
    from expressions import NOTEBOOK

    from jupyter_ctx import InvalidRequestError
    from jupyter_ctx.template.filling import fill

    shell = _shell()
    assert shell.run_cell(NOTEBOOK).success
    shell.user_ns["FIRED"].clear()
    took = _timed()
    try:
        said = fill(f"{{{{ {expression} }}}}", shell.user_ns).text
    except InvalidRequestError as error:
        said = f"refused: {error}"
    return said[:300], *took(), _works(shell) and not shell.user_ns["FIRED"]


def _read(source: str) -> tuple[str, float, float, bool]:
    from jupyter_ctx import Chat, InvalidRequestError
    from jupyter_ctx.testing import ScriptedProvider

    shell = _shell()
    result = shell.run_cell(source)
    assert result.success, source
    chat = Chat(provider=ScriptedProvider())
    took = _timed()
    try:
        said = chat.desk.attached("v", shell.user_ns["v"]).text
    except InvalidRequestError as error:
        said = f"refused: {error}"
    return said[:300], *took(), _works(shell)


def _timed() -> Callable[[], tuple[float, float]]:
    """Return a function that returns the seconds since, and this process's time of the processor."""
    begun, used = time.monotonic(), time.process_time()
    return lambda: (round(time.monotonic() - begun, 2), round(time.process_time() - used, 2))


def _works(shell: Any) -> bool:
    """Return whether nothing is left behind, and a cell runs."""
    from IPython.utils.capture import capture_output

    time.sleep(0.05)
    alarms = signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0) and signal.getsignal(signal.SIGURG) is signal.SIG_DFL
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY
    with capture_output() as shown:
        result = shell.run_cell("from IPython.display import display\nprint(sum(range(1000)))\ndisplay(7)")
    return bool(alarms and limit and result.success and "499500" in shown.stdout and shown.outputs)


def _child(kind: str, member: str, pipe: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    said = (_filled if kind == "expressions" else _read)(member)
    os.write(pipe, json.dumps(said).encode())


def _outcome(what: str, pipe: int, begun: float, status: int, usage: Any) -> Outcome:
    data = b""
    while part := os.read(pipe, 65_536):
        data += part
    os.close(pipe)
    used = usage.ru_utime + usage.ru_stime
    said, seconds, cpu, works = json.loads(data) if data else ("", time.monotonic() - begun, used, False)
    return Outcome(what, said, seconds, cpu, round(usage.ru_maxrss / 1024), works and status == 0)


def main(kind: str, at_once: int, members: Iterable[str]) -> None:
    """Print the outcome of each member."""
    import pandas  # noqa: F401
    import polars  # noqa: F401

    import jupyter_ctx.attachments.attached_values
    import jupyter_ctx.template.filling
    import jupyter_ctx.testing  # noqa: F401

    running: dict[int, tuple[str, int, float]] = {}

    def wait() -> None:
        process, status, usage = os.wait4(-1, 0)
        print(json.dumps(_outcome(*running.pop(process), status, usage)), flush=True)

    for member in members:
        if len(running) >= at_once:
            wait()
        read, write = os.pipe()
        begun = time.monotonic()
        process = os.fork()
        if not process:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            os.close(read)
            code = 1
            try:
                _child(kind, member, write)
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        running[process] = member, read, begun
    while running:
        wait()


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent.parent)]
    main(sys.argv[1], int(sys.argv[2]), json.load(sys.stdin))
