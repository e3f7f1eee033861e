"""A prompt that was pasted from anywhere looks, and does not act: no code of it runs, and it changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.template.filling import fill

NOTEBOOK = """
import collections, functools, os, pathlib, random, subprocess, sys, types
import numpy as np
import pandas as pd
import polars as pl
from os import environ, system

FIRED = []
def fires(*args, **keywords): FIRED.append("function")
class Session:
    "A client whose methods act."
    def get(self, *args): FIRED.append("get")
    head = filter = select = first = drop = replace = index = extract = sort = find = execute = all = get
session = Session()
vector, partly = np.vectorize(fires), functools.partial(fires)
of = types.SimpleNamespace(module=os, run=fires, path=pathlib.Path("canary.txt"))
l, d, s = [3, 1, 2], {"a": 1, "f": fires, "m": os, "c": Session}, {1, 2}
queue, counter = collections.deque([1, 2]), collections.Counter("ab")
df = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]})
p = pl.DataFrame({"a": [1, 2, 3]})
arr = np.arange(3.0)
text, fs, path = "abc", [fires, system], pathlib.Path("canary.txt")
iterator, generator, file = iter([1, 2]), (n for n in l), open(os.devnull)
"""
HOSTILE = {
    "code": [
        "fires()", "system('touch canary.txt')", "subprocess.getoutput('id')", "os.system('id')", "exec('1')",
        "eval('fires()')", "compile('1', '', 'eval')", "open('canary.txt', 'w')", "__import__('os')", "print('x')",
        "input()", "getattr(l, 'append')", "setattr(of, 'a', 1)", "type(l)", "vars()", "globals()", "locals()",
        "breakpoint()", "get_ipython()", "get_ipython().system('id')", "exit()", "lambda: fires()", "(lambda: 1)()",
        "(y := 3)", "[fires() for _ in l]", "[f() for f in fs]", "[len(1) for len in fs]", "fs[0]()", "d['f']()",
        "d['c']()", "of.run()", "partly()", "session.get('http://127.0.0.1/')", "await fires()",
        "map(fires, l)", "list(map(fires, l))", "sorted(l, key=fires)", "max(l, key=fires)", "min(l, key=partly)",
        "sum(l, fires)", "all(map(fires, l))", "reversed(fires)",
    ],
    "methods that act": [
        "l.append(3)", "l.clear()", "l.sort()", "l.reverse()", "l.pop()", "l.insert(0, 1)", "l.extend(l)",
        "l.remove(1)", "d.clear()", "d.pop('a')", "d.update(a=2)", "d.setdefault('z', 1)", "s.add(9)", "s.discard(1)",
        "queue.append(1)", "queue.rotate(1)", "counter.update('a')", "df.pop('a')", "df.insert(0, 'q', 1)",
        "df.update(df)", "df.drop(columns='a', inplace=True)", "df.fillna(0, inplace=True)",
        "df.sort_values('a', inplace=True)", "df.reset_index(inplace=True)", "df.a.replace(1, 2, inplace=True)",
        "arr.sort()", "arr.fill(0)", "arr.sum(out=arr)", "arr.sum(0, None, arr)", "arr.cumsum(0, None, arr)",
        "arr.clip(0, 1, arr)", "arr.put(0, 9)", "arr.resize(1)", "arr.setflags(write=False)", "arr.partition(1)",
        "path.touch()", "path.unlink()", "path.replace('x')", "path.write_text('x')", "of.path.replace('x')",
        "session.head()", "session.filter()", "session.select()", "session.first()", "session.drop()",
        "session.replace()", "session.index()", "session.extract()", "session.sort()", "session.find()",
        "session.execute()", "session.all()", "random.seed(1)", "text.format(l)", "text.format_map(d)",
    ],
    "files and the network": [
        "df.to_csv('canary.txt')", "df.to_csv(path_or_buf='canary.txt')", "df.to_csv(path)", "df.to_json('canary.txt')",
        "df.to_pickle('canary.txt')", "df.to_html('canary.txt')", "df.to_html(buf='canary.txt')",
        "df.to_string('canary.txt')", "df.to_latex('canary.txt')", "df.to_markdown('canary.txt')",
        "df.to_parquet('canary.txt')", "df.to_sql('x', 'sqlite:///canary.txt')", "df.to_clipboard()",
        "df.agg('to_csv')", "df.agg('to_pickle', 0, 'canary.txt')", "df.a.agg('to_csv', path_or_buf='canary.txt')",
        "df.agg(['to_csv'])", "df.groupby('a').agg('to_csv')", "df.pivot_table(index='a', aggfunc='to_csv')",
        "df.agg('pipe', fires)", "df.agg('eval')", "df.agg('test')", "arr.sum(0, None, (arr,))", "p.write_csv('canary.txt')", "p.write_csv(file='canary.txt')",
        "p.write_parquet('canary.txt')", "arr.tofile('canary.txt')", "arr.dump('canary.txt')", "np.save('canary', arr)",
        "pd.read_csv('canary.txt')", "path.read_text()", "path.open('w')", "df.query('@fires()')", "df.eval('a')",
        "file", "file.read()", "[line for line in file]",
    ],
    "functions handed on": [
        "df.apply(fires)", "df.pipe(fires)", "df.map(fires)", "df.agg(fires)", "df.agg([fires])",
        "df.agg(x=('a', fires))",
        "df.groupby(fires)", "df.loc[fires]", "df[fires]", "df.loc[d['f']]", "df.loc[fs[0], 'a']", "df.iloc[partly]",
        "df.sort_values('a', key=fires)", "df.a.where(fires)", "df.rename(columns=fires)", "p.map_rows(fires)",
        "p.select(fires)", "[df.loc[f] for f in fs]", "df.a.map(d['f'])", "df.a.str.replace('a', fires)",
        "df.groupby(partly)", "df.agg(vector)", "df.a.agg(vector)", "sorted(l, key=vector)",
    ],
    "ways up": [
        "l.__class__", "''.__class__.__mro__", "d.__class__", "df._mgr", "text.__len__()", "l['__class__']",
        "_frame", "__builtins__", "__name__", "fires.__globals__", "session.__dict__", "os.environ", "d['m'].environ",
        "of.module.environ['HOME']", "environ['HOME']", "environ", "dict(environ)", "[m.environ for m in [os]]", "[v.environ for v in d.values()]", "np.random",
        "sys.modules", "Session", "d['c']", "Session.get", "[c for c in [Session]]", "dict.fromkeys(l)", "str.mro()",
        "df.head", "l.append", "fires", "partly", "system", "os", "of.run", "d['f']", "fs[0]", "(fires, 1)[0]",
        "iterator", "generator", "list(iterator)", "sum(generator)", "[n for n in generator]",
    ],
    "what takes for ever": [
        "10**10**8", "1 << 10**9", "'a' * 10**10", "10**10 * 'a'", "l * 10**10", "(1,) * 10**8",
        "list(range(10**10))", "sum(range(10**11))", "x:1000000000d", "'a'.ljust(10**10)", "'a'.center(10**10)", "'a'.zfill(10**9)", "'%10000000d' % 1", "format(1, '99999999')", "10**64**9",
        "(" * 300 + "1" + ")" * 300, "-" * 1999 + "1", "1" + "+1" * 900 + "+" + "x" * 3_000,
    ],
}  # fmt: skip
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect", "os.remove")
happened: list[str] = []
is_watching = False


def _watch(event: str, args: tuple[Any, ...]) -> None:
    opened = event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so"))
    if is_watching and (event in STARTS or opened):
        happened.append(f"{event} {args[:2]}")


sys.addaudithook(_watch)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    assert shell.run_cell(NOTEBOOK).success
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        yield shell.user_ns
    shell.user_ns["file"].close()
    InteractiveShell.clear_instance()


def state(names: dict[str, Any]) -> str:
    kept = [names[name] for name in ("l", "s", "queue", "counter", "FIRED")]
    return repr((kept, list(names["d"]), names["df"].to_dict(), names["arr"].tolist(), names["random"].getstate()))


@pytest.mark.parametrize("group", HOSTILE)
def test_a_pasted_prompt_is_refused_and_nothing_happens(names: dict[str, Any], group: str) -> None:
    global is_watching
    before, filled_in = state(names), []
    happened.clear()
    is_watching = True
    for expression in HOSTILE[group]:
        with suppress(InvalidRequestError):
            filled_in.append((expression, fill(f"{{{{ {expression} }}}}", names, Redactor()).text))
    is_watching = False
    assert filled_in == []
    assert happened == []
    assert state(names) == before
    assert not list(Path().iterdir())


def test_what_the_users_own_objects_do_is_theirs(names: dict[str, Any]) -> None:
    class Counted:
        def __init__(self) -> None:
            self.read = 0

        @property
        def value(self) -> int:
            self.read += 1
            return self.read

        def __str__(self) -> str:
            return f"read {self.read} times"

    thing = Counted()
    assert fill("{{ thing.value }}; {{ thing }}", {"thing": thing}, Redactor()).text == "1; read 1 times"
