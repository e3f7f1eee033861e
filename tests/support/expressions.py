"""A notebook full of things that must not happen, and expressions of a pasted prompt that try to make them happen."""

from __future__ import annotations

NOTEBOOK = '''
import asyncio, collections, dataclasses, datetime, decimal, enum, fractions, functools, io, json, logging, math, os
import pathlib, random, re, shutil, socket, subprocess, sys, threading, time, types, weakref
from os import environ, system
from subprocess import getoutput
import numpy as np
import pandas as pd

FIRED = []

def fires(*args, **keywords):
    FIRED.append("function")
    return "fired"

class Canary:
    """Whatever is asked of it says so."""
    kept = "plain"
    def __init__(self): self.__dict__["data"] = 1
    @property
    def asked(self): FIRED.append("property"); return 1
    @functools.cached_property
    def lazily(self): FIRED.append("cached property"); return 1
    def method(self, *args): FIRED.append("method"); return 1
    def __getattr__(self, name):
        if name.startswith("_repr_") or name.startswith("_ipython"): raise AttributeError(name)
        FIRED.append("getattr " + name); return 1
    def __setattr__(self, name, value): FIRED.append("setattr")

def firing(name, result):
    def special(self, *args): FIRED.append(name); return result
    return special

for name, result in {
    "repr": "x", "str": "x", "format": "x", "len": 3, "getitem": 1, "iter": iter(()), "contains": True, "bool": True,
    "eq": True, "ne": True, "lt": True, "le": True, "gt": True, "ge": True, "hash": 1, "call": 1, "add": 1, "radd": 1,
    "mul": 1, "rmul": 1, "sub": 1, "rsub": 1, "mod": 1, "rmod": 1, "pow": 1, "rpow": 1, "truediv": 1, "rtruediv": 1,
    "neg": 1, "pos": 1, "abs": 1, "int": 1, "float": 1.0, "index": 1, "round": 1, "html": "x", "dir": [],
}.items():
    setattr(Canary, f"__{name}__", firing(name, result))

class Hanging(Canary):
    def __repr__(self): FIRED.append("hang"); time.sleep(60)
    __str__ = __len__ = __iter__ = __repr__

class Text(str):
    __str__ = __repr__ = upper = __len__ = __getitem__ = __add__ = __mod__ = firing("text", "x")

class Rows(list):
    __iter__ = __getitem__ = __len__ = __repr__ = __contains__ = firing("rows", iter(()))

class Book(dict):
    __missing__ = __getitem__ = __iter__ = __len__ = items = keys = values = get = __contains__ = firing("book", 1)

class Whole(int):
    __add__ = __mul__ = __str__ = __repr__ = __index__ = __int__ = firing("whole", 1)

class Zone(datetime.tzinfo):
    utcoffset = tzname = dst = firing("zone", None)

class Meta(type):
    def __getattribute__(cls, name):
        if name not in ("__class__", "mro"): FIRED.append("meta " + name)
        return type.__getattribute__(cls, name)

class OfMeta(metaclass=Meta):
    pass

class Slots:
    __slots__ = ("a", "_hidden")

@dataclasses.dataclass
class Point:
    x: int = 1
    y: int = 2
    secret: str = dataclasses.field(default="hidden", repr=False)
    @property
    def distance(self): FIRED.append("property"); return 1
    def move(self): FIRED.append("method")

async def coroutine(): FIRED.append("coroutine")

def generating():
    FIRED.append("generator")
    yield 1

def nothing(): yield from ()

canary, hanging, of_meta, point, slots = Canary(), Hanging(), OfMeta(), Point(), Slots()
slots.a, slots._hidden = 1, 2
text, rows_of_mine, book, whole = Text("text"), Rows([1, 2]), Book(a=1), Whole(3)
at = datetime.datetime(2026, 1, 2, tzinfo=Zone())
generator, iterator, mapped = generating(), iter([1, 2, 3]), map(fires, [1])
class Awaitable:
    def __await__(self): FIRED.append("await"); yield
awaitable, lock, thread = Awaitable(), threading.Lock(), threading.Thread(target=fires)
reference, proxy = weakref.ref(canary), weakref.proxy(canary)
partial, bound, namespace = functools.partial(fires), canary.method, types.SimpleNamespace(run=fires, n=1)
frame, code = sys._getframe(), fires.__code__
ip = get_ipython()
logger, pattern = logging.getLogger("x"), re.compile("(a+)+b")
path, stream = pathlib.Path("canary.txt"), io.StringIO("abc")
sock = socket.socket()

l, d, t, s = [3, 1, 2], {"a": 1, "b": [1, 2]}, (1, 2), {1, 2}
mixed, nested, loop = [1, canary], {"deep": [{"x": canary}]}, []
loop.append(loop)
doubling = [1]
for _ in range(60): doubling = [doubling, doubling]
default, counter = collections.defaultdict(list), collections.Counter("hello")
queue = collections.deque([1, 2])
big, huge_text, wide_range = 10**4000, "a" * 3_000_000, range(10**12)
tiny, decimals, fraction = decimal.Decimal("1e-400"), decimal.Decimal("1E+99999999"), fractions.Fraction(1, 3)
form, spans, lines = "{0.__class__}", "%1000000000d", "a\\n" * 1_000_000
df = pd.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"], "c": [1.5, 2.5, 3.5]})
objects = pd.DataFrame({"a": [canary, canary]})
column, odd = objects["a"], pd.Series([1, 2], index=[canary, 2])
tall = pd.DataFrame({"x": np.arange(1_000_000), "y": 1.0, "z": 2.0})
same = pd.Series(1, index=[0] * 100_000)
broad = pd.DataFrame(np.zeros((2, 5_000)))
arr, cube, grid = np.arange(6).reshape(2, 3), np.zeros((2,) * 22), np.broadcast_to(np.float64(1), (10**6, 10**6))
holding, records = np.empty(2, dtype=object), np.zeros(2, dtype=[("a", "O")])
holding[0] = holding[1] = canary
records["a"][0] = canary
row = np.arange(100_000.0)
groups = tall.groupby("x")

class Name(Canary):
    __hash__ = lambda self: 1
    __deepcopy__ = __reduce_ex__ = __copy__ = firing("copy", 1)

class Label(str):
    __str__ = __repr__ = __format__ = __len__ = firing("label", "x")
    __eq__ = firing("label ==", True)
    __hash__ = lambda self: FIRED.append("label #") or 1

name, label = Name(), Label("a")
named, named_index = pd.Series([3, 1, 2], name=name), pd.Series([1, 2], index=pd.Index([5, 6], name=name))
named_columns = pd.DataFrame([[1, 2]], columns=pd.Index(["a", "b"], name=name))
of_label, in_attrs = pd.Series([1, 2], name=label), pd.DataFrame({"a": [1, 2]})
in_attrs.attrs["a"] = name
labels = pd.DataFrame([[1, 2]], columns=pd.Index([label, "b"], dtype=object))
levels = pd.Series([1, 2], index=pd.MultiIndex.from_arrays([["a", "b"], [1, 2]], names=["k", name]))
deep_labels = pd.Series([1, 2], index=pd.MultiIndex.from_arrays([[name, "b"], [1, 2]]))
kinds = pd.Series(pd.Categorical.from_codes([0, 1], categories=pd.Index([name, "b"], dtype=object)))
sparse = pd.Series(pd.arrays.SparseArray([name, name], dtype="Sparse[object]"))
by_name = {name: 1, label: 2}
cells = pd.DataFrame({"a": [[name], [1]], "b": [{"k": label}, {}]})
class DataFrame(Canary): __module__ = "pandas"
class Timestamp(Canary): __module__ = "pandas"
borrowed, stamp = DataFrame(), Timestamp()
FIRED.clear()

docs = pd.DataFrame({"text": ["short"] * 20_000, "n": range(20_000)})
docs.loc[7, "text"] = "x" * 100_000
in_lists, in_index = pd.DataFrame({"a": [["x" * 100_000]] + [[]] * 9_999}), docs.set_index("text")
in_columns, east = pd.DataFrame([[1]] * 9_999, columns=["x" * 100_000]), docs.replace("short", "長い")
equal = pd.DataFrame({"a": range(1_000)}, index=["a"] * 1_000)
many = pd.DataFrame(np.arange(400_000).reshape(200, 2_000))
days, long_texts = pd.Series(pd.date_range("2020", periods=100_000)), pd.Series([huge_text] * 2_000, dtype=object)
texts = pd.Series(np.arange(400_000)).astype(str)
long_array = np.array([huge_text] * 500, dtype=object)

KEY = "sk-proj-Zq3vX9bN2mK7tR5wY8pL4dF6"
keys = {"openai": KEY, "google": "AIza" + "SyD4k8Jq2mZx7Vb1Nc5Lp9Rt3Ws6Yh0Gf4U"}
keys |= {"github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a"}
keys |= {"aws": "AKIAIOSFODNN7EXAMPLE", "slack": "xoxb-123456789012-abcdefghijkl", "hf": "hf_AbCdEfGhIjKlMnOpQrStUvWx"}
keys |= {"groq": "gsk_1234567890abcdefghijABCDEFGHIJ", "pem": "-----BEGIN RSA PRIVATE KEY-----\\nMIIE"}
keys |= {"jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"}
config = types.SimpleNamespace(api_key=KEY)
prose, in_bytes, in_frame = f"my key is {KEY}, keep it", KEY.encode(), pd.DataFrame({"k": ["x", KEY]})
in_array, in_list, env = np.array(["x", KEY]), [["x", [KEY]]], dict(os.environ)
typed, letters = "typed-by-hand-42", list(KEY)
long_key = "key=" + KEY * 3
'''

HOSTILE: dict[str, list[str]] = {
    "modules": [
        "os", "os.name", "os.environ", "os.getcwd()", "os.system('touch canary.txt')", "sys.modules", "sys.argv",
        "subprocess.getoutput('touch canary.txt')", "math.pi", "np.random", "pd.options", "np.linalg", "json.dumps(d)",
        "os.environ['AWS_SECRET_ACCESS_KEY']", "environ", "environ['AWS_SECRET_ACCESS_KEY']", "environ.copy()",
        "environ._data", "pathlib.Path.home()", "shutil.rmtree('x')", "random.random()", "time.sleep(60)",
        "asyncio.run(coroutine())", "__builtins__", "__builtin__.open('canary.txt', 'w')",
        "np.load('x', allow_pickle=True)", "pd.read_pickle('x')", "pd.io.common.os.system('touch canary.txt')",
    ],
    "functions and classes": [
        "open('/etc/passwd').read()", "open('canary.txt', 'w')", "system('touch canary.txt')", "getoutput('id')",
        "fires", "fires()", "fires.__globals__", "fires.__code__", "fires['x']", "partial()", "partial.func", "partial",
        "bound()", "bound", "bound.__func__", "Canary", "Canary()", "Canary.kept", "Point(1, 2)", "Point.x", "code",
        "code.co_consts", "frame", "frame.f_globals", "frame.f_builtins", "l.append", "df.head", "namespace.run()",
        "namespace.run", "fires|string", "[fires]", "(fires, 1)", "[fires][0]", "canary.method", "exit()", "quit()",
        "exit", "len(l)", "eval('1')", "exec('1')", "__import__('os')", "print('x')", "input()", "getattr(l, 'append')",
        "type(l)", "vars()", "globals()", "df.apply(fires)", "df.pipe(fires)", "df.map(fires)", "df.agg(fires)",
        "df.transform(fires)", "l|map(fires)", "l|sort(attribute=fires)", "d|map('fires')|list", "s.union(fires)",
    ],
    "the shell": [
        "get_ipython()", "get_ipython().system('touch canary.txt')", "get_ipython().run_cell('fires()')", "ip",
        "ip.user_ns", "ip.system('touch canary.txt')", "ip.history_manager", "ip.ev('fires()')", "ip.config",
        "ip|string", "[ip]", "ip.getoutput('id')", "get_ipython", "ip.kernel", "ip.ns_table",
    ],
    "ways up": [
        "l.__class__", "''.__class__.__mro__", "''.__class__.__base__.__subclasses__()", "l['__class__']",
        "d.__class__", "df.__class__", "df._mgr", "df.__array__()", "canary.__dict__", "point.__dict__",
        "point.__class__", "slots._hidden", "form.format(l)", "form.format_map(d)", "l|attr('__class__')",
        "l|map(attribute='__class__')|list", "d|map(attribute='__class__.__init__')|list", "fires|attr('__globals__')",
        "point|attr('x')", "[point]|map(attribute='__init__.__globals__')|list", "[point]|sort(attribute='__class__')",
        "l.sort.__self__", "'%s'.__mod__(l)", "self", "self.__init__", "cycler", "lipsum.__globals__",
        "namespace.__class__", "joiner.__init__", "config.__init__.__globals__", "range.__class__", "dict.__mro__",
        "(1).__class__", "1.0.__class__", "l.__len__()", "l.__setitem__(0, 1)", "arr.__array_interface__", "arr.ctypes",
        "arr.data", "arr.base", "df.attrs", "at.tzinfo.utcoffset(at)", "caller", "loop.index", "super()", "varargs",
        "_frame", "whole.__add__(1)", "[point]|groupby('__class__')", "[l]|selectattr('__class__')|list",
        "[l]|sum(attribute='__class__')",
    ],
    "what changes": [
        "l.append(3)", "l.clear()", "l.sort()", "l.reverse()", "l.pop()", "l.insert(0, 1)", "l.extend(l)",
        "l.remove(1)", "d.clear()", "d.pop('a')", "d.popitem()", "d.update(a=2)", "d.setdefault('z', 1)",
        "default['new']", "s.add(9)", "s.clear()", "s.discard(1)", "s.update(s)", "queue.append(1)", "queue.rotate(1)",
        "queue.popleft()", "counter.update('a')", "counter.subtract('a')", "df.drop(columns='a', inplace=True)",
        "df.pop('a')", "df.sort_values('a', inplace=True)", "df.insert(0, 'q', 1)", "df.update(df)",
        "df.fillna(0, inplace=True)", "df.rename(columns=d, inplace=True)", "df.set_flags(copy=False)",
        "df.eval('a = 1', inplace=True)", "df.drop('a', 1, None, None, None, True)", "df.reset_index(inplace=True)",
        "df.a.replace(1, 2, inplace=True)", "arr.sort()", "arr.fill(0)", "arr.sum(0, None, arr)", "arr.sum(out=arr)",
        "arr.cumsum(0, None, arr)", "arr.put(0, 9)", "arr.resize(1)", "arr.setflags(write=False)", "arr.round(0, arr)",
        "arr.clip(0, 1, arr)", "arr.partition(1)", "arr.itemset(0, 9)", "arr.byteswap(True)", "iterator|list",
        "iterator|first", "generator|list", "generator.send(1)", "mapped|list", "iterator", "generator",
        "stream.read()", "stream.truncate(0)", "lock.acquire()", "thread.start()", "df.sample(2)", "tall.sample(2)",
        "random.seed(1)", "namespace.__dict__.update(a=1)", "loop.append(1)", "logger.setLevel(10)",
        "df.columns.set_names(['q'], inplace=True)", "df.iloc.__setitem__(0, 1)",
    ],
    "what writes and asks": [
        "df.to_csv('canary.txt')", "df.to_csv(path_or_buf='canary.txt')", "df.to_csv(path)", "df.to_json('canary.txt')",
        "df.to_pickle('canary.txt')", "df.to_html('canary.txt')", "df.to_string('canary.txt')",
        "df.to_string(buf=stream)", "df.to_latex('canary.txt')", "df.to_markdown('canary.txt')",
        "df.to_excel('canary.txt')", "df.to_parquet('canary.txt')", "df.to_sql('x', 'sqlite:///canary.txt')",
        "df.to_clipboard()", "arr.tofile('canary.txt')", "arr.dump('canary.txt')", "arr.dumps()", "arr.tobytes()",
        "path.write_text('x')", "path.touch()", "path.read_text()", "path.exists()", "path.unlink()", "path.resolve()",
        "path.open('w')", "path.absolute()", "path.home()", "sock.connect(t)", "sock.getsockname()", "stream",
        "stream.getvalue()", "logger.error('x')", "df.info()", "df.plot()", "df.hist()", "df.query('a > 1')",
        "df.eval('a')", "df.query('@fires()')", "df.filter(regex='(a+)+b')", "df.groupby(fires)", "pattern.match('a')",
        "pattern", "thread", "lock", "sock", "logger.parent.handlers", "df.style", "df.to_xarray()",
    ],
    "objects that run": [
        "canary", "canary.asked", "canary.lazily", "canary.nothing", "canary['x']", "canary()", "canary.method()",
        "canary|string", "canary|length", "canary|list", "canary + 1", "1 + canary", "canary * 2", "canary == 1",
        "1 in canary", "canary in l", "canary and 1", "not canary", "-canary", "canary ~ 'x'", "'%s' % canary",
        "'%s'|format(canary)", "canary|int", "canary|abs", "canary|default('x', true)", "'x' if canary else 'y'",
        "[canary]", "mixed", "mixed|sort", "mixed|join", "mixed|unique", "mixed|max", "mixed|sum", "1 in [canary]",
        "mixed.count(1)", "mixed == mixed", "nested", "nested|tojson", "nested|string", "d.get(canary)", "d[canary]",
        "l[canary]", "canary < 1", "canary|tojson", "canary|escape", "canary is even", "canary is divisibleby 2",
        "canary|round", "canary|first", "hanging", "hanging|string", "[hanging]", "hanging|length", "objects",
        "objects.head()", "column", "column.sum()", "column == 1", "column.sort_values()", "objects.describe()", "odd",
        "odd.sort_index()", "objects.to_string()", "column.unique()", "column.isin([1])", "holding", "holding.sum()",
        "holding + 1", "holding.tolist()|sort", "records", "records['a']", "holding.max()", "proxy", "proxy.asked",
        "reference()", "reference", "awaitable", "coroutine()", "point.distance", "point.move()", "[point]|sort",
        "point == point", "point < point", "at", "at.isoformat()", "at|string", "[at]", "of_meta.x", "of_meta",
        "lipsum(1)", "column.to_dict()", "odd['x']", "[column]", "column|list|join", "column|max", "objects == 1",
        "odd.to_json()", "namespace()", "nested.deep[0].x()",
    ],
    "what takes for ever": [
        "'a' * 10**10", "10**(10**8)", "2**(2**40)", "l * 10**10", "(1,) * 10**10", "10**4000 * 10**4000",
        "big * big * big * big", "wide_range|list", "wide_range|sum", "1.5 in wide_range", "wide_range.count(1.5)",
        "wide_range|join", "wide_range|last", "wide_range|max", "[wide_range]|sort", "'x'|center(10**10)",
        "'%1000000000d'|format(1)", "spans % 1", "'%.1000000000f' % 1.0", "'%*d' % (1000000000, 1)",
        "'a'.ljust(10**10)", "'a'.rjust(10**10)", "'a'.zfill(10**10)", "'a'.center(10**10)", "'a\t'.expandtabs(10**10)",
        "huge_text * 100", "huge_text.replace('a', huge_text)", "huge_text|replace('a', huge_text)",
        "huge_text ~ huge_text", "huge_text + huge_text", "huge_text|list", "huge_text.join(huge_text)",
        "huge_text|join(huge_text)", "'a'|indent(10**10)", "lines|indent(100000)", "huge_text|wordwrap(1)",
        "huge_text|urlencode", "[huge_text, huge_text]", "[huge_text, huge_text]|join", "doubling", "doubling|string",
        "doubling == doubling", "doubling|tojson", "loop == [loop]", "loop|tojson", "loop", "decimals|int",
        "decimals * 1", "'%d' % decimals", "decimals.as_integer_ratio()", "decimals", "tiny ** (10**9)",
        "fraction ** (10**9)", "big|string * 2000", "7 ** (7 ** 7)", "(7 ** 4000) ** 4000", "3 ** -(10**9)",
        "tall.to_string()", "tall.to_csv()", "tall.describe()", "tall.to_dict()", "tall.to_html()",
        "tall.values.tolist()", "tall.T.describe()", "broad.describe()", "broad.corr()", "broad.T + broad",
        "same * same[1:]", "tall.x|list", "cube", "cube|string", "cube.tolist()", "grid.sum()", "grid + 1",
        "grid.copy()", "grid.tolist()", "grid.T.sum()", "row.reshape(100000, 1) * row", "arr[[0] * 10000000]",
        "grid[[0, 1] * 100]", "groups.describe()", "groups.apply(fires)", "groups|list",
        "tall.groupby(['x', 'y', 'z', 'x']).sum()", "groups", "'a'.encode('ascii') * 10**10",
        "l|batch(1, fill_with='x')|list * 10**9", "[1]|batch(10**10, 'x')", "[1]|slice(10**10)|list",
        "l|sum(start=10**4000 * 10**4000)", "at.strftime('%1000000000d')", "'a' * (10**10)|int", "l[::1] * 10**9",
        "('%(a)s' * 100000) % d * 9999", "1|round(10**10)", "d|tojson(10**10)", "wide_range|batch(2)",
        "wide_range|map('string')", "wide_range|select", "wide_range|random", "wide_range|groupby('x')",
        "((((((((3))))))))" + " ** 99" * 9, "+".join(["1"] * 900), "(" * 300 + "1" + ")" * 300, "[" * 200 + "]" * 200,
        "-" * 1500 + "1", "not " * 400 + "1", "l" + "[0:]" * 480, "1 if " * 300 + "1", "'a'" + "|upper" * 300,
        "x" * 3000, "'%s'" + " % 'a%s'" * 200, "hanging ~ 'x'", "tall.sort_values('x').to_string()",
        "tall.corr(method='kendall') * 9 ** (9 ** 9)",
    ],
    "names that run": [
        *(f"{value}{use}" for value in (
            "named", "named_index", "named_columns", "of_label", "in_attrs", "labels", "levels", "deep_labels", "kinds",
            "sparse", "cells", "borrowed",
        ) for use in (
            "", ".head()", ".describe()", ".to_csv()", ".to_string()", ".sum()", ".index", ".T", ".iloc[0]", "|list",
            ".to_dict()", ".isna()",
        )),
        "named.name", "named.unique()", "named.value_counts()", "named[0]", "named + 1", "named == named", "-named",
        "named.sort_values()", "named.round(1)", "[named]", "named_index.index.name", "named_index.index.names",
        "named_columns.columns", "named_columns['a']", "named_columns.columns.name", "labels['a']", "labels.a",
        "labels[['a']]", "labels.columns|list", "labels.columns[0]", "of_label.name", "of_label|string",
        "levels.loc['a']", "levels.index.names", "deep_labels['b']", "kinds.value_counts()", "kinds.max()", "by_name",
        "by_name|tojson", "by_name['a']", "by_name.a", "by_name.keys()", "by_name|items", "by_name.get('a')",
        "'a' in by_name", "stamp", "stamp.isoformat()", "[stamp]", "named.to_markdown()", "named_columns.to_markdown()",
        "d[label]", "l[name]", "docs[label]", "docs[name]", "docs.head(name)", "label", "label ~ 'x'", "label == 'a'",
        "label|upper", "in_attrs.a",
    ],
    "what takes long in one step": [
        "docs.to_string()", "docs.to_markdown()", "docs.to_html()", "docs.to_csv()", "docs.text.to_string()", "docs",
        "docs.to_dict()", "docs.text", "docs.text|list", "docs.text|join", "docs.text.tolist()", "docs.text.unique()",
        "docs.text.value_counts()", "docs.text.value_counts().to_string()", "docs.head(10).to_string()", "docs.T",
        "docs.head(3000).to_string()", "docs.describe()", "docs.sum()", "docs.text.sum()", "docs.max()", "docs.values",
        "in_lists.to_string()", "in_lists.to_markdown()", "in_lists", "in_lists.to_csv()", "in_index.to_string()",
        "in_index.head(4000).to_string()", "in_index.index", "in_columns.to_string()", "in_columns.to_markdown()",
        "in_columns", "east.to_string()", "east.to_markdown()", "equal.loc[['a'] * 100000]", "equal.loc['a']",
        "equal.loc[['a', 'a', 'a']]", "equal[['a'] * 1000]", "equal['a']", "equal.loc['a', 'a']",
        "many.nunique(axis=1)", "many.mode(axis=1)", "many.quantile(0.5, axis=1)", "many.describe()", "many.corr()",
        "many.corr(method='kendall')", "many.nunique()", "many.median()", "many.T.sum()", "many.max(axis=1)",
        "many.to_markdown()", "many.sort_values(1)", "tall.corr(method='kendall')",
        "tall.x.corr(tall.y, method='kendall')", "tall.nunique()", "tall.median()", "tall.sort_values(['x', 'y', 'z'])",
        "tall.x.value_counts()", "tall.x.unique()", "tall.quantile([0.1, 0.5, 0.9])", "tall.x.mode()", "tall.rank()",
        "tall.x.tolist()", "tall.x.to_json()", "tall.nlargest(1000, 'x')", "tall.T", "tall.groupby('x').describe()",
        "tall.pivot_table(index='x')", "tall.round(10**9)", "tall.x.quantile([0.5] * 999)", "tall.x.round(100)",
        "tall.head(10**18)", "tall.head(10**18).to_string()", "tall.x[0:10**18]|join", "days.strftime('%A' * 499)",
        "days.strftime('%A')", "days.day_name()", "days.max()", "days.describe()", "days.to_csv()",
        "days[0].strftime('%A' * 499)", "days[0].strftime('%1000000000d')", "days[0] ** 9", "long_texts.sum()",
        "long_texts", "long_texts.to_string()", "long_texts.unique()", "long_texts.nunique()",
        "long_texts.value_counts()", "long_texts.max()", "long_texts.describe()", "long_texts.sort_values()",
        "long_texts|list", "long_texts|join", "long_texts|unique|list", "texts.sort_values()", "texts.value_counts()",
        "texts.unique()", "texts.nunique()", "texts.describe()", "texts.max()", "texts.sum()", "texts.to_csv()",
        "texts|sort", "texts|list", "texts|join", "long_array", "long_array.sum()", "long_array.tolist()",
        "long_array.max()", "long_array|join", "cube.sum(axis=0)", "cube + cube", "cube ** 9", "row * 10**4000",
        "row ** fraction", "arr ** (10**9)", "grid.max()", "grid[0].max()", "grid[0]|list", "grid.T[0]", "grid[0:10]",
        "tiny % 3", "decimals % 3", "decimals // tiny", "fraction * fraction", "huge_text.split('a')",
        "huge_text|upper", "huge_text.title()", "huge_text|wordcount", "huge_text.count('a')",
        "huge_text|replace('a', 'bb')", "huge_text|indent(4)", "huge_text|tojson", "huge_text in huge_text",
        "wide_range|first", "wide_range|length",
    ],
    "keys": [
        "KEY", "keys", "keys.openai", "keys['google']", "keys.github", "keys.aws", "keys.slack", "keys.hf", "keys.groq",
        "keys.pem", "keys.jwt", "config", "config.api_key", "prose", "prose[:30]", "prose.split()", "KEY[::-1]",
        "KEY[3:]", "KEY|reverse", "KEY|list", "KEY|upper", "KEY.replace('-', '')", "KEY[:10] ~ ' ' ~ KEY[10:]",
        "KEY|replace('s', '$')", "keys|dictsort", "keys|items", "keys.values()", "keys.values()|join", "keys|tojson",
        "in_bytes", "in_bytes.hex()", "in_frame", "in_frame.k[1]", "in_frame.k", "in_frame.to_csv()",
        "in_frame.to_dict()", "in_frame.k.to_list()", "in_array", "in_array[1]", "in_list", "in_list[0][1]",
        "in_list|string", "env", "env['AWS_SECRET_ACCESS_KEY']", "env.AWS_SECRET_ACCESS_KEY[::-1]", "env|items",
        "env.get('AWS_SECRET_ACCESS_KEY')", "typed", "typed|upper", "[typed]", "typed[6:]", "letters|join",
        "letters|join|reverse", "in_frame.loc[1, 'k']", "in_frame.iloc[1, 0]", "keys.values()|map('reverse')|list",
        "KEY|truncate(20)", "'%.20s' % KEY", "'%.20s'|format(KEY)", "KEY|wordwrap(5)", "KEY|batch(3)|list",
        "KEY.partition('-')", "KEY|first", "KEY == 'x'", "KEY < 'sl'", "'Zq' in KEY", "KEY|urlencode", "KEY.find('Z')",
        "long_key", "In|last", "In[-1]", "KEY|length", "in_frame.k.sort_values()", "in_array.tolist()",
        "keys.values()|first|list",
    ],
}  # fmt: skip
