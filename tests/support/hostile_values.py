"""Values whose own code does what it must not: each is source that leaves one in ``v``."""

from __future__ import annotations

BEGIN = """
import asyncio, collections, ctypes, dataclasses, functools, gc, io, itertools, os, random, re, signal, sys, threading
import time, types, warnings, weakref
import numpy as np, pandas as pd
def loop():
    while True: pass
def stubborn():
    while True:
        try: time.sleep(1)
        except BaseException: pass
def busy():
    while True:
        try:
            while True:
                try: sum(range(1000))
                except BaseException: pass
        except BaseException: continue
def recursive(): return recursive() + "x"
def ending():
    try: yield 1
    finally:
        while True: time.sleep(0.1)
class Dying:
    def __del__(self):
        while True: pass
class Unsaid(Exception):
    def __str__(self): loop()
def fails(error):
    raise error
def keep(kept=[]):
    while True: kept.append(object())
"""

ACTS = {  # what a method may do
    "joins": "', '.join(str(i) for i in range(10**9))",
    "joins a list": "', '.join([str(i) for i in range(10**9)])",
    "sorts": "str(sorted(range(10**9), key=lambda i: -i))",
    "lists": "str(list(range(10**9)))",
    "makes a text": "'x' * 10**10",
    "makes bytes": "str(bytes(10**10))",
    "makes a list": "str([0] * 10**9)",
    "makes an array": "str(np.zeros(10**9).sum())",
    "makes many arrays": "str([np.ones(10**6) for _ in itertools.count()])",
    "makes a dict": "str({i: str(i) for i in itertools.count()})",
    "makes a frame": "pd.DataFrame({'a': range(10**9)}).to_string()",
    "keeps": "keep()",
    "loops": "loop()",
    "sleeps": "time.sleep(60) or ''",
    "catches all": "stubborn()",
    "catches all in loops": "busy()",
    "recurses": "recursive()",
    "raises an error that loops": "fails(Unsaid())",
    "raises BaseException": "fails(BaseException('no'))",
    "raises GeneratorExit": "fails(GeneratorExit())",
    "raises StopIteration": "fails(StopIteration())",
    "goes back and forth": "re.match('(a+)+$', 'a' * 40 + 'b')",
    "counts far": "len(str(9 ** 9 ** 8))",
    "exits": "sys.exit()",
    "ends badly": "''.join(str(fails(ValueError())) for _ in ending())",
    "leaves an endless __del__": "[Dying()] and 'x'",
    "sets an alarm": "signal.alarm(0) or loop()",
    "takes the signals": "[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGURG, signal.SIGALRM)] and loop()",
    "starts a thread": "threading.Thread(target=time.sleep, args=(5,), daemon=True).start() or 'x'",
    "waits for a thread": "[t := threading.Thread(target=time.sleep, args=(60,), daemon=True), t.start(), t.join()]",
    "waits for a lock": "[k := threading.Lock(), k.acquire(), k.acquire()]",
    "prints": "[print('x' * 10**6) for _ in itertools.count()]",
    "displays": "[display('x') for _ in itertools.count()]",
    "closes stdout": "sys.stdout.close() or 'x'",
    "replaces stdout": "setattr(sys, 'stdout', io.StringIO()) or 'x'",
    "raises the limit": "sys.setrecursionlimit(10**4) or recursive()",
    "collects": "[gc.collect() for _ in itertools.count()]",
}
METHODS = {  # where it does so
    "repr": "class V:\n    def __repr__(self): return {act}\nv = V()",
    "in a list": "class V:\n    def __repr__(self): return {act}\nv = [1, [V()]]",
    "markdown": "class V:\n    def _repr_markdown_(self): return {act}\nv = V()",
}
SINGLE = [
    "class V(list):\n    def __iter__(self): return itertools.count()\nv = V([1])",
    "class V(list):\n    def __iter__(self):\n        while True: yield 'x' * 10**6\nv = V([1])",
    "class V(list):\n    def __len__(self): return 10**18\nv = V([1])",
    "class V(list):\n    def __len__(self): loop()\nv = V([1])",
    "class V(dict):\n    def items(self): return ((i, i) for i in itertools.count())\nv = V(a=1)",
    "class V(dict):\n    def keys(self): return itertools.count()\n    __iter__ = keys\nv = V(a=1)",
    "class V(dict):\n    def __getitem__(self, key): loop()\nv = V(a=1)",
    "class V(str):\n    __len__ = __iter__ = split = __getitem__ = lambda self, *a: loop()\nv = V('a')",
    "class V(str):\n    def __str__(self): loop()\nv = V('a')",
    "class S(str):\n    split = strip = __len__ = __add__ = lambda self, *a: loop()\n"
    "class V:\n    def __repr__(self): return S('x')\nv = V()",
    "class V(int):\n    def __repr__(self): loop()\nv = V(3)",
    "class V(set):\n    def __iter__(self): return itertools.count()\nv = V([1])",
    "class V(tuple):\n    def __iter__(self): return itertools.count()\nv = V([1])",
    "class V(collections.deque):\n    def __iter__(self): return itertools.count()\nv = V([1])",
    "class V(collections.OrderedDict):\n    def __iter__(self): return itertools.count()\nv = V(a=1)",
    "class V(bytes):\n    def __getitem__(self, key): loop()\nv = V(b'a')",
    "class K:\n    def __repr__(self): loop()\n    def __hash__(self): return 1\nv = {K(): 1}",
    "class K:\n    def __repr__(self): loop()\n    def __hash__(self): return 1\nv = {K()}",
    "class K:\n    def __lt__(self, other): loop()\n    def __repr__(self): return 'k'\nv = {K(), K()}",
    "class V:\n    @property\n    def __class__(self): loop()\nv = V()",
    "class V:\n    def __getattr__(self, name): loop()\nv = V()",
    "class V:\n    def __getattribute__(self, name): loop()\nv = V()",
    "class V:\n    def __getattr__(self, name): return self\nv = V()",
    "class V:\n    def __getattr__(self, name): return 'x' * 10**10\nv = V()",
    "class V:\n    def _repr_html_(self): loop()\nv = V()",
    "class V:\n    def _repr_png_(self): loop()\nv = V()",
    "class V:\n    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n' + bytes(10**10)\nv = V()",
    "class V:\n    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n' + bytes(3 * 10**8)\nv = V()",
    "class V:\n    def _repr_mimebundle_(self, include=None, exclude=None): loop()\nv = V()",
    "class V:\n    def _repr_mimebundle_(self, **_): return {'image/png': 'iVBORw0KGgo' * 10**9}\nv = V()",
    "class V:\n    shape, dtype, columns = (10**18,), 'x', itertools.count()\n"
    "    def __len__(self): return 10**18\nv = V()",
    "class M(type):\n    def __instancecheck__(cls, other): loop()\n    def __repr__(cls): loop()\n"
    "class V(metaclass=M): pass\nv = V()",
    "class M(type):\n    def __getattribute__(cls, name): loop()\nclass V(metaclass=M): pass\nv = V()",
    "@dataclasses.dataclass\nclass V:\n    a: int = 1\n    def __getattribute__(self, name): loop()\nv = V()",
    "@dataclasses.dataclass\nclass V:\n    a: object = None\nv = V()\nv.a = [v] * 10**6",
    "class V:\n    def __fspath__(self): loop()\nv = V()",
    "class V(Exception):\n    def __repr__(self): loop()\nv = V()",
    "class V(pd.DataFrame):\n    @property\n    def shape(self): loop()\nv = V({'a': [1]})",
    "class N:\n    def __str__(self): loop()\n    __repr__ = __str__\n"
    "    def __hash__(self): return 1\nv = pd.Series([1], name=N())",
    "class N:\n    def __str__(self): loop()\n    __repr__ = __str__\nv = pd.DataFrame({'a': [N()]})",
    "class N:\n    def __str__(self): loop()\n    __repr__ = __str__\nv = np.array([N(), N()], dtype=object)",
    "class N:\n    def __str__(self): return 'x' * 10**10\n    __repr__ = __str__\nv = pd.DataFrame({'a': [N()] * 9})",
    "v = np.broadcast_to(np.float64(1), (10**6, 10**6))",
    "v = pd.DataFrame({'a': ['x'] * 1_000_000, 'b': range(1_000_000)})",
    "v = pd.DataFrame(np.zeros((3, 20_000)))",
    "v = pd.DataFrame({'a': ['x' * 100_000] * 500})",
    "v = pd.Series(range(3), index=['a'] * 3)",
    "v = [[]]\nfor _ in range(10**5): v = [v]",
    "v = [1]\nfor _ in range(60): v = [v, v]",
    "v = []\nv.append(v)",
    "v = 10**1_000_000",
    "v = 'x' * 50_000_000",
    "v = {i: str(i) for i in range(500_000)}",
    "v = collections.defaultdict(lambda: loop(), a=1)",
    "v = types.SimpleNamespace(a=types.MappingProxyType({'x': 1}))",
    "class L(list):\n    def __repr__(self): loop()\nv = {'a': L([1])}",
]

VALUES = [BEGIN + METHODS[where].format(act=act) for where in METHODS for act in ACTS.values()] + [
    BEGIN + single for single in SINGLE
]
