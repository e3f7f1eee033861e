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
        "np.load('x', allow_pickle=True)",
        "pd.read_pickle('x')", "pd.io.common.os.system('touch canary.txt')",
    ],
    "functions and classes": [
        "open('/etc/passwd').read()", "open('canary.txt', 'w')", "system('touch canary.txt')", "getoutput('id')",
        "fires",
        "fires()", "fires.__globals__", "fires.__code__", "fires['x']", "partial()", "partial.func", "partial",
        "bound()",
        "bound", "bound.__func__", "Canary", "Canary()", "Canary.kept", "Point(1, 2)", "Point.x", "code",
        "code.co_consts",
        "frame", "frame.f_globals", "frame.f_builtins", "l.append", "df.head", "namespace.run()", "namespace.run",
        "fires|string", "[fires]", "(fires, 1)", "[fires][0]", "canary.method", "exit()", "quit()", "exit", "len(l)",
        "eval('1')", "exec('1')", "__import__('os')", "print('x')", "input()", "getattr(l, 'append')", "type(l)",
        "vars()",
        "globals()", "df.apply(fires)", "df.pipe(fires)", "df.map(fires)", "df.agg(fires)", "df.transform(fires)",
        "l|map(fires)", "l|sort(attribute=fires)", "d|map('fires')|list", "s.union(fires)",
    ],
    "the shell": [
        "get_ipython()", "get_ipython().system('touch canary.txt')", "get_ipython().run_cell('fires()')", "ip",
        "ip.user_ns",
        "ip.system('touch canary.txt')", "ip.history_manager", "ip.ev('fires()')", "ip.config", "ip|string", "[ip]",
        "ip.getoutput('id')", "get_ipython", "ip.kernel", "ip.ns_table",
    ],
    "ways up": [
        "l.__class__", "''.__class__.__mro__", "''.__class__.__base__.__subclasses__()", "l['__class__']",
        "d.__class__", "df.__class__", "df._mgr", "df.__array__()", "canary.__dict__", "point.__dict__",
        "point.__class__",
        "slots._hidden", "form.format(l)", "form.format_map(d)", "l|attr('__class__')",
        "l|map(attribute='__class__')|list",
        "d|map(attribute='__class__.__init__')|list", "fires|attr('__globals__')", "point|attr('x')",
        "[point]|map(attribute='__init__.__globals__')|list", "[point]|sort(attribute='__class__')", "l.sort.__self__",
        "'%s'.__mod__(l)", "self", "self.__init__", "cycler", "lipsum.__globals__", "namespace.__class__",
        "joiner.__init__",
        "config.__init__.__globals__", "range.__class__", "dict.__mro__", "(1).__class__", "1.0.__class__",
        "l.__len__()", "l.__setitem__(0, 1)", "arr.__array_interface__", "arr.ctypes", "arr.data", "arr.base",
        "df.attrs",
        "at.tzinfo.utcoffset(at)", "caller", "loop.index", "super()", "varargs", "_frame", "whole.__add__(1)",
        "[point]|groupby('__class__')", "[l]|selectattr('__class__')|list", "[l]|sum(attribute='__class__')",
    ],
    "what changes": [
        "l.append(3)", "l.clear()", "l.sort()", "l.reverse()", "l.pop()", "l.insert(0, 1)", "l.extend(l)",
        "l.remove(1)",
        "d.clear()", "d.pop('a')", "d.popitem()", "d.update(a=2)", "d.setdefault('z', 1)", "default['new']", "s.add(9)",
        "s.clear()", "s.discard(1)", "s.update(s)", "queue.append(1)", "queue.rotate(1)", "queue.popleft()",
        "counter.update('a')", "counter.subtract('a')", "df.drop(columns='a', inplace=True)", "df.pop('a')",
        "df.sort_values('a', inplace=True)", "df.insert(0, 'q', 1)", "df.update(df)", "df.fillna(0, inplace=True)",
        "df.rename(columns=d, inplace=True)", "df.set_flags(copy=False)", "df.eval('a = 1', inplace=True)",
        "df.drop('a', 1, None, None, None, True)", "df.reset_index(inplace=True)", "df.a.replace(1, 2, inplace=True)",
        "arr.sort()", "arr.fill(0)", "arr.sum(0, None, arr)", "arr.sum(out=arr)", "arr.cumsum(0, None, arr)",
        "arr.put(0, 9)",
        "arr.resize(1)", "arr.setflags(write=False)", "arr.round(0, arr)", "arr.clip(0, 1, arr)", "arr.partition(1)",
        "arr.itemset(0, 9)", "arr.byteswap(True)", "iterator|list", "iterator|first", "generator|list",
        "generator.send(1)",
        "mapped|list", "iterator", "generator", "stream.read()", "stream.truncate(0)", "lock.acquire()",
        "thread.start()",
        "df.sample(2)", "tall.sample(2)", "random.seed(1)", "namespace.__dict__.update(a=1)", "loop.append(1)",
        "logger.setLevel(10)", "df.columns.set_names(['q'], inplace=True)", "df.iloc.__setitem__(0, 1)",
    ],
    "what writes and asks": [
        "df.to_csv('canary.txt')", "df.to_csv(path_or_buf='canary.txt')", "df.to_csv(path)", "df.to_json('canary.txt')",
        "df.to_pickle('canary.txt')", "df.to_html('canary.txt')", "df.to_string('canary.txt')",
        "df.to_string(buf=stream)",
        "df.to_latex('canary.txt')", "df.to_markdown('canary.txt')", "df.to_excel('canary.txt')",
        "df.to_parquet('canary.txt')",
        "df.to_sql('x', 'sqlite:///canary.txt')", "df.to_clipboard()", "arr.tofile('canary.txt')",
        "arr.dump('canary.txt')",
        "arr.dumps()", "arr.tobytes()", "path.write_text('x')", "path.touch()", "path.read_text()", "path.exists()",
        "path.unlink()", "path.resolve()", "path.open('w')", "path.absolute()", "path.home()", "sock.connect(t)",
        "sock.getsockname()", "stream", "stream.getvalue()", "logger.error('x')", "df.info()", "df.plot()", "df.hist()",
        "df.query('a > 1')", "df.eval('a')", "df.query('@fires()')", "df.filter(regex='(a+)+b')", "df.groupby(fires)",
        "pattern.match('a')", "pattern", "thread", "lock", "sock", "logger.parent.handlers", "df.style",
        "df.to_xarray()",
    ],
    "objects that run": [
        "canary", "canary.asked", "canary.lazily", "canary.nothing", "canary['x']", "canary()", "canary.method()",
        "canary|string", "canary|length", "canary|list", "canary + 1", "1 + canary", "canary * 2", "canary == 1",
        "1 in canary", "canary in l", "canary and 1", "not canary", "-canary", "canary ~ 'x'", "'%s' % canary",
        "'%s'|format(canary)", "canary|int", "canary|abs", "canary|default('x', true)", "'x' if canary else 'y'",
        "[canary]",
        "mixed", "mixed|sort", "mixed|join", "mixed|unique", "mixed|max", "mixed|sum", "1 in [canary]",
        "mixed.count(1)",
        "mixed == mixed", "nested", "nested|tojson", "nested|string", "d.get(canary)", "d[canary]", "l[canary]",
        "canary < 1", "canary|tojson", "canary|escape", "canary is even", "canary is divisibleby 2", "canary|round",
        "canary|first", "hanging", "hanging|string", "[hanging]", "hanging|length", "objects", "objects.head()",
        "column",
        "column.sum()", "column == 1", "column.sort_values()", "objects.describe()", "odd", "odd.sort_index()",
        "objects.to_string()", "column.unique()", "column.isin([1])", "holding", "holding.sum()", "holding + 1",
        "holding.tolist()|sort", "records", "records['a']", "holding.max()", "proxy", "proxy.asked", "reference()",
        "reference",
        "awaitable", "coroutine()", "point.distance", "point.move()", "[point]|sort", "point == point", "point < point",
        "at", "at.isoformat()", "at|string", "[at]", "of_meta.x", "of_meta", "lipsum(1)", "column.to_dict()",
        "odd['x']",
        "[column]", "column|list|join", "column|max", "objects == 1", "odd.to_json()", "namespace()",
        "nested.deep[0].x()",
    ],
    "what takes for ever": [
        "'a' * 10**10", "10**(10**8)", "2**(2**40)", "l * 10**10", "(1,) * 10**10", "10**4000 * 10**4000",
        "big * big * big * big",
        "wide_range|list", "wide_range|sum", "1.5 in wide_range", "wide_range.count(1.5)", "wide_range|join",
        "wide_range|last",
        "wide_range|max", "[wide_range]|sort", "'x'|center(10**10)", "'%1000000000d'|format(1)", "spans % 1",
        "'%.1000000000f' % 1.0", "'%*d' % (1000000000, 1)", "'a'.ljust(10**10)", "'a'.rjust(10**10)",
        "'a'.zfill(10**10)",
        "'a'.center(10**10)", "'a\t'.expandtabs(10**10)", "huge_text * 100", "huge_text.replace('a', huge_text)",
        "huge_text|replace('a', huge_text)", "huge_text ~ huge_text", "huge_text + huge_text", "huge_text|list",
        "huge_text.join(huge_text)", "huge_text|join(huge_text)", "'a'|indent(10**10)", "lines|indent(100000)",
        "huge_text|wordwrap(1)", "huge_text|urlencode", "[huge_text, huge_text]", "[huge_text, huge_text]|join",
        "doubling", "doubling|string", "doubling == doubling", "doubling|tojson", "loop == [loop]", "loop|tojson",
        "loop",
        "decimals|int", "decimals * 1", "'%d' % decimals", "decimals.as_integer_ratio()", "decimals", "tiny ** (10**9)",
        "fraction ** (10**9)", "big|string * 2000", "7 ** (7 ** 7)", "(7 ** 4000) ** 4000", "3 ** -(10**9)",
        "tall.to_string()",
        "tall.to_csv()", "tall.describe()", "tall.to_dict()", "tall.to_html()", "tall.values.tolist()",
        "tall.T.describe()",
        "broad.describe()", "broad.corr()", "broad.T + broad", "same * same[1:]", "tall.x|list",
        "cube", "cube|string", "cube.tolist()", "grid.sum()", "grid + 1", "grid.copy()", "grid.tolist()",
        "grid.T.sum()",
        "row.reshape(100000, 1) * row", "arr[[0] * 10000000]", "grid[[0, 1] * 100]",
        "groups.describe()", "groups.apply(fires)", "groups|list", "tall.groupby(['x', 'y', 'z', 'x']).sum()", "groups",
        "'a'.encode('ascii') * 10**10", "l|batch(1, fill_with='x')|list * 10**9", "[1]|batch(10**10, 'x')",
        "[1]|slice(10**10)|list", "l|sum(start=10**4000 * 10**4000)", "at.strftime('%1000000000d')",
        "'a' * (10**10)|int", "l[::1] * 10**9", "('%(a)s' * 100000) % d * 9999", "1|round(10**10)", "d|tojson(10**10)",
        "wide_range|batch(2)", "wide_range|map('string')", "wide_range|select", "wide_range|random",
        "wide_range|groupby('x')",
        "((((((((3))))))))" + " ** 99" * 9, "+".join(["1"] * 900), "(" * 300 + "1" + ")" * 300, "[" * 200 + "]" * 200,
        "-" * 1500 + "1", "not " * 400 + "1", "l" + "[0:]" * 480, "1 if " * 300 + "1",
        "'a'" + "|upper" * 300, "x" * 3000,
        "'%s'" + " % 'a%s'" * 200, "hanging ~ 'x'", "tall.sort_values('x').to_string()",
        "tall.corr(method='kendall') * 9 ** (9 ** 9)",
    ],
    "keys": [
        "KEY", "keys", "keys.openai", "keys['google']", "keys.github", "keys.aws", "keys.slack", "keys.hf", "keys.groq",
        "keys.pem", "keys.jwt", "config", "config.api_key", "prose", "prose[:30]", "prose.split()", "KEY[::-1]",
        "KEY[3:]",
        "KEY|reverse", "KEY|list", "KEY|upper", "KEY.replace('-', '')", "KEY[:10] ~ ' ' ~ KEY[10:]",
        "KEY|replace('s', '$')",
        "keys|dictsort", "keys|items", "keys.values()", "keys.values()|join", "keys|tojson", "in_bytes",
        "in_bytes.hex()",
        "in_frame", "in_frame.k[1]", "in_frame.k", "in_frame.to_csv()", "in_frame.to_dict()", "in_frame.k.to_list()",
        "in_array", "in_array[1]", "in_list", "in_list[0][1]", "in_list|string", "env",
        "env['AWS_SECRET_ACCESS_KEY']", "env.AWS_SECRET_ACCESS_KEY[::-1]", "env|items",
        "env.get('AWS_SECRET_ACCESS_KEY')",
        "typed", "typed|upper", "[typed]", "typed[6:]", "letters|join", "letters|join|reverse", "in_frame.loc[1, 'k']",
        "in_frame.iloc[1, 0]", "keys.values()|map('reverse')|list", "KEY|truncate(20)",
        "'%.20s' % KEY", "'%.20s'|format(KEY)", "KEY|wordwrap(5)", "KEY|batch(3)|list", "KEY.partition('-')",
        "KEY|first",
        "KEY == 'x'", "KEY < 'sl'", "'Zq' in KEY", "KEY|urlencode", "KEY.find('Z')", "long_key",
        "In|last", "In[-1]", "KEY|length", "in_frame.k.sort_values()", "in_array.tolist()", "keys.values()|first|list",
    ],
}  # fmt: skip
