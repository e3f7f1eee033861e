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
from jupyter_ctx.template.expressions import fill

pytestmark = pytest.mark.core

NOTEBOOK = """
import collections, datetime, functools, io, logging, os, pathlib, random, shutil, socket, sqlite3, subprocess, sys
import threading, types
import numpy as np
import pandas as pd
import polars as pl

FIRED = []
def f(*args, **keywords): FIRED.append("function")
class Client:
    "A client whose methods act."
    def get(self, *args, **keywords): FIRED.append("get")
    post = delete = request = send = execute = query = fetch = run = call = save = load = open = read = write = get
    select = join = filter = copy = first = replace = find = index = pop = head = apply = map = transform = get
    predict = score = sample = collect = take = where = add = __call__ = get
client, cls, model, vec = Client(), Client, functools.partial(f), np.vectorize(f)
path, env, mod, proxy = pathlib.Path("canary"), os.environ, sys.modules, types.MappingProxyType(vars(os))
file = open(os.devnull)
box = types.SimpleNamespace(os=os, f=f, env=env, cls=Client, client=client, p=path, file=file, ns=globals())
con = sqlite3.connect(":memory:")
cur, log, th, lock = con.cursor(), logging.getLogger("x"), threading.Thread(target=f), threading.Lock()
sh, rng, envb, bio = types.SimpleNamespace(system=os.system), np.random.default_rng(0), os.environb, io.BytesIO(b"x")
df, p, arr, mat = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}), pl.DataFrame({"a": [1, 2]}), np.arange(4.0), np.eye(2)
s, l, t, st, store, dt = df.a, [1, 2], "abc", {1}, {}, datetime.datetime
d = {"f": f, "m": os, "c": Client, "e": env, "x": client}
dd, cm, err = collections.defaultdict(f), collections.ChainMap({"f": f}), ValueError("x")
frame, code, gen = sys._getframe(), f.__code__, (n for n in l)
"""
HOSTILE = {
    "functions": r"""
f() ¦ f(1) ¦ model() ¦ client() ¦ vec(l) ¦ cls() ¦ client.get('http://127.0.0.1') ¦ client.post() ¦ client.delete() ¦
client.request('GET','u') ¦ client.send() ¦ client.execute('x') ¦ client.query('x') ¦ client.fetch() ¦ client.run() ¦
client.call() ¦ client.save() ¦ client.load() ¦ client.open() ¦ client.read() ¦ client.write('x') ¦ client.select() ¦
client.join() ¦ client.filter() ¦ client.copy() ¦ client.first() ¦ client.replace('a') ¦ client.find() ¦
client.index(1) ¦ client.pop() ¦ client.head() ¦ client.apply() ¦ client.map(len) ¦ client.transform(1) ¦
client.predict(1) ¦ client.score(1) ¦ client.sample() ¦ client.collect() ¦ client.take(1) ¦ client.where(1) ¦
client.add(1)
    """,
    "what objects lead to": r"""
box.os ¦ box.os.environ ¦ box.os.getcwd() ¦ box.f ¦ box.f() ¦ box.env ¦ box.env['PATH'] ¦ box.env.get('PATH') ¦
box.cls ¦ box.cls.get ¦ box.client.get() ¦ box.p.read_text() ¦ box.p.write_text('x') ¦ box.p.touch() ¦ box.p.exists()
¦ box.p.stat() ¦ box.p.iterdir() ¦ box.p.glob('*') ¦ box.p.home() ¦ box.p.resolve() ¦ box.file ¦ box.file.read() ¦
box.ns['os'] ¦ box.ns['os'].environ ¦ box.ns['f']()
    """,
    "the environment and modules": r"""
env ¦ env['PATH'] ¦ env.get('PATH') ¦ env.keys() ¦ [k for k in env] ¦ list(env) ¦ sorted(env) ¦ len(env) ¦
dict(env.items()) ¦ d['e'] ¦ d['e']['PATH'] ¦ [v['PATH'] for v in [env]] ¦ [v.get('PATH') for v in d.values()] ¦ envb
¦ mod['os'] ¦ mod['os'].system('id') ¦ [m.environ for m in mod.values()] ¦ proxy['system'] ¦ proxy['environ']['PATH']
¦ proxy['system']('id')
    """,
    "connections, frames and iterators": r"""
con.execute('select 1') ¦ cur.execute('x') ¦ con.close() ¦ con.commit() ¦ cur.fetchall() ¦ log.info('x') ¦
log.setLevel(10) ¦ th.start() ¦ th.run() ¦ lock.acquire() ¦ sh.system('id') ¦ sh.system ¦ rng.random() ¦
rng.shuffle(l) ¦ gen ¦ list(gen) ¦ next(gen) ¦ sum(gen) ¦ gen.send(1) ¦ gen.gi_frame ¦
(x for x in l).gi_frame.f_globals ¦ [g.gi_frame for g in [(x for x in l)]] ¦ frame.f_globals['os'] ¦
frame.f_back.f_builtins['open'] ¦ frame.f_globals['f']() ¦ code.replace(co_name='x') ¦ code.co_code.decode() + f() ¦
err.with_traceback(1) ¦ err.add_note('x') ¦ err.__traceback__ ¦ err.__class__
    """,
    "ways up and built-in functions": r"""
().__class__ ¦ t.__class__.__mro__ ¦ df.__init__() ¦ df._mgr ¦ s._values ¦ l.__add__(l) ¦ d.__getitem__('f') ¦ _x ¦
__builtins__ ¦ __import__('os') ¦ __name__ ¦ f.__globals__ ¦ type(t) ¦ type(t).__subclasses__() ¦ object ¦
getattr(t,'upper') ¦ setattr(box,'a',1) ¦ delattr(box,'f') ¦ vars(box) ¦ globals() ¦ locals() ¦ dir() ¦ eval('1') ¦
exec('1') ¦ compile('1','','eval') ¦ open('canary') ¦ input() ¦ print(1) ¦ breakpoint() ¦ exit() ¦ help() ¦
memoryview(bio) ¦ super() ¦ property(f) ¦ staticmethod(f) ¦ id(t) ¦ hash(t) ¦ iter(l) ¦ callable(f) ¦
isinstance(t, cls) ¦ filter(f, l) ¦ map(f, l) ¦ list(map(client, l)) ¦ list(map(model, l)) ¦ sorted(l, key=f) ¦
sorted(l, key=client) ¦ max(l, key=vec) ¦ min(l, key=d['f']) ¦ max(l, key=d['x']) ¦ list(map(d['f'], l)) ¦
[g(1) for g in [len, f]] ¦ [g(1) for g in d.values()] ¦ (lambda: 1)() ¦ (y := 2) ¦ [x async for x in l] ¦ await f() ¦
yield 1 ¦ *l, f() ¦ print ¦ str.mro() ¦ dict.fromkeys(l) ¦ l.append ¦ df.head ¦ (f, 1)[0] ¦ [c for c in [Client]] ¦
text.format(l) ¦ len(*l, **d) ¦ get_ipython() ¦ get_ipython().system('id')
    """,
    "tables and arrays": r"""
df.apply(f) ¦ df.apply(client) ¦ df.map(f) ¦ df.pipe(f) ¦ df.agg(f) ¦ df.agg([f]) ¦ df.agg(a=('a', f)) ¦
df.agg(d['f']) ¦ df.transform(f) ¦ df.transform('to_csv') ¦ df.apply('to_pickle') ¦ df.apply('test') ¦
s.apply('to_csv') ¦ s.map(client) ¦ s.map(d['f']) ¦ s.agg('save') ¦ s.agg('test') ¦ df.groupby(f) ¦
df.groupby(client).sum() ¦ df.groupby('a').apply(f) ¦ df.groupby('a').apply('pipe') ¦
df.groupby('a').transform('pipe') ¦ df.groupby('a').aggregate('to_csv') ¦ df.rolling(2).agg('apply') ¦
df.rolling(2).apply(f) ¦ df.loc[f] ¦ df.loc[client] ¦ df.loc[f, 'a'] ¦ df.loc[:, f] ¦ df.iloc[client] ¦ df[client] ¦
s[f] ¦ s.loc[d['x']] ¦ df.where(client) ¦ df.mask(f) ¦ df.assign(z=f) ¦ df.assign(z=client) ¦
df.rename(columns=client) ¦ df.sort_values('a', key=client) ¦ df.filter(items=f) ¦ df.eval('a+1') ¦ df.query('a>1') ¦
df.query('@f()') ¦ df.pivot_table(index='a', aggfunc='test') ¦ df.pivot_table(index='a', aggfunc=client) ¦
df.pivot_table('b', 'a', None, 'to_csv') ¦ df.to_csv('x') ¦ df.to_csv(path_or_buf='x') ¦ df.to_pickle('x') ¦
df.to_json(path) ¦ df.to_html(buf='x') ¦ df.to_excel('x') ¦ df.to_parquet('x') ¦ df.to_sql('x', con) ¦
df.to_hdf('x', 'k') ¦ df.to_markdown('x') ¦ df.to_latex('x') ¦ df.to_string(path) ¦ df.plot() ¦ df.plot.bar() ¦
df.hist() ¦ df.info() ¦ df.insert(0, 'z', 1) ¦ df.pop('a') ¦ df.update(df) ¦ df.drop('a', axis=1, inplace=True) ¦
df.style.to_html('x') ¦ df.style.apply(f) ¦ p.write_csv('x') ¦ p.write_parquet('x') ¦ p.write_csv(file='x') ¦
p.write_json('x') ¦ p.map_rows(f) ¦ p.select(f) ¦ p.pipe(f) ¦ p['a'].map_elements(f) ¦ p.lazy().sink_csv('x') ¦
p.drop_in_place('a') ¦ p.insert_column(0, p['a']) ¦ arr.tofile('x') ¦ arr.dump('x') ¦ arr.sort() ¦ arr.fill(1) ¦
arr.put(0, 1) ¦ arr.resize(1) ¦ arr.cumsum(0, None, arr) ¦ arr.sum(0, None, (arr,)) ¦ arr.sum(out=arr) ¦
arr.round(0, arr) ¦ arr.clip(0, 1, arr) ¦ arr.mean(0, None, mat) ¦ arr.take(l, 0, arr) ¦ arr.partition(1) ¦
arr.byteswap(True) ¦ arr.itemset(0, 1) ¦ arr.setfield(1, 'f8') ¦ arr.setflags(0) ¦ arr.view('i1') ¦
arr.ctypes.data_as(1) ¦ df.fillna(0, inplace=True) ¦ df.a.str.replace('a', f) ¦ df.agg(vec) ¦ df.groupby(model) ¦
[df.loc[g] for g in d.values()]
    """,
    "collections, files and the network": r"""
l.append(1) ¦ l.sort() ¦ l.reverse() ¦ l.clear() ¦ l.pop() ¦ l.extend(l) ¦ l.insert(0, 1) ¦ l.remove(1) ¦ st.add(3) ¦
st.discard(1) ¦ st.pop() ¦ st.update(l) ¦ d.pop('f') ¦ d.update(a=1) ¦ d.setdefault('q', 1) ¦ d.popitem() ¦ d.clear()
¦ cm.new_child() ¦ store.update(x=1) ¦ bio.read() ¦ bio.write(t) ¦ bio.getvalue() ¦ path.unlink() ¦ path.read_bytes()
¦ path.rename('q') ¦ path.open() ¦ path.replace('z') ¦ path.parent.mkdir() ¦ os.sep ¦ sys.path ¦ shutil.rmtree('x') ¦
socket.socket() ¦ subprocess.run('id') ¦ pd.read_csv('x') ¦ pd.options ¦ np.load('x') ¦ np.random.seed(1) ¦
pl.read_csv('x') ¦ dt.now() ¦ collections.Counter(l) ¦ Client ¦ Client.get ¦ f ¦ model ¦ open ¦ random ¦
random.random()
    """,
}
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
    shell.user_ns["con"].close()
    InteractiveShell.clear_instance()


def state(names: dict[str, Any]) -> str:
    kept = [names[name] for name in ("l", "st", "store", "df", "p", "arr", "FIRED")]
    return repr((kept, list(names["d"]), names["rng"].bit_generator.state, names["random"].getstate()))


@pytest.mark.parametrize("group", HOSTILE)
def test_a_pasted_prompt_is_refused_and_nothing_happens(names: dict[str, Any], group: str) -> None:
    global is_watching
    before, filled_in = state(names), []
    happened.clear()
    is_watching = True
    for expression in HOSTILE[group].strip().replace("\n", " ").split(" ¦ "):
        with suppress(InvalidRequestError):
            filled_in.append((expression, fill(f"{{{{ {expression} }}}}", names, Redactor())))
    is_watching = False
    assert filled_in == []
    assert happened == []
    assert state(names) == before
    assert not list(Path().iterdir())


def test_what_the_users_own_objects_do_is_theirs(names: dict[str, Any]) -> None:
    read = list[str]()

    class Counted:
        value = property(lambda self: len(read))

        def __str__(self) -> str:
            read.append("read")
            return "itself"

    assert fill("{{ thing }}; {{ thing.value }}", {"thing": Counted()}, Redactor()) == "itself; 1"
