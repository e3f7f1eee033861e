"""Parse an expression with Jinja's grammar and evaluate its tree over the notebook's data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .filters import FILTERS, TESTS, apply, either, examine, jinja
from .limits import MissingError, RefusedError
from .operations import binary, call, chain, compare_values, truth, unary
from .value_reading import Reader

MAX_EXPRESSION = 2_000  # characters of one expression
MAX_DEPTH = 60  # levels of nodes nested in nodes


def parse_expression(expression: str) -> Any:
    """Return the tree of an expression, or ``None`` for a syntax error. Raises RefusedError when it is too long."""
    from jinja2 import TemplateSyntaxError, nodes

    if len(expression) > MAX_EXPRESSION:
        raise RefusedError(f"the expression is longer than {MAX_EXPRESSION:,} characters")
    try:
        body = jinja().parse(f"{{{{ {expression} }}}}").body
    except RecursionError:
        raise RefusedError("the expression is nested too deeply") from None
    except (TemplateSyntaxError, ValueError, OverflowError, UnicodeError, Warning):
        return None
    whole = len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1
    tree = body[0].nodes[0] if whole else None
    return tree if isinstance(tree, nodes.Expr) and not isinstance(tree, nodes.TemplateData) else None


def _all_nodes(tree: Any) -> Iterator[Any]:
    """Yield all nodes of a tree, without recursion: Jinja's own search overflows the stack on deep trees."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += node.iter_child_nodes()
        yield node


def expression_names(tree: Any) -> set[str]:
    """Return the notebook's names that an expression reads."""
    from jinja2 import nodes

    return {node.name for node in _all_nodes(tree) if isinstance(node, nodes.Name)}


def node_kinds(tree: Any) -> set[str]:
    """Return the kinds of all nodes of an expression, such as ``Name`` and ``Call``."""
    return {type(node).__name__ for node in _all_nodes(tree)}


def members_read(tree: Any, name: str) -> tuple[set[str], bool]:
    """Return which members of a name an expression reads, as ``name.x`` or ``name['x']``, and if it reads more."""
    from jinja2 import nodes

    members, reads = set(), 0
    found = list(_all_nodes(tree))
    called = {id(node.node) for node in found if isinstance(node, nodes.Call)}
    for node in found:
        reads += isinstance(node, nodes.Name) and node.name == name
        if isinstance(node, (nodes.Getattr, nodes.Getitem)) and isinstance(node.node, nodes.Name):
            key = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
            if node.node.name == name and isinstance(key, str) and id(node) not in called:
                members.add(key)
                reads -= 1
    return members, reads > 0


def has_known_names(tree: Any, names: Mapping[str, Any]) -> bool:
    """Return whether all names are the notebook's, and all filters and tests are known to Jinja."""
    from jinja2 import nodes

    environment = jinja()
    known = {*FILTERS, *TESTS, *environment.filters, *environment.tests}
    used = {node.name for node in _all_nodes(tree) if isinstance(node, (nodes.Filter, nodes.Test))}
    return expression_names(tree) <= names.keys() and used <= known


class Evaluation:
    """An evaluator for the tree of one expression, with a method for each kind of node that is allowed."""

    def __init__(self, reader: Reader, names: Mapping[str, Any]) -> None:
        self._reader, self._names, self._depth = reader, names, 0

    def value(self, node: Any) -> Any:
        """Return the value of a node. Raises RefusedError, MissingError, and whatever an operation on data raises."""
        kind = type(node).__name__
        self._reader.allowance.spend()
        if kind not in _NODES:
            typed = "**" if kind == "Pow" else f"a {kind}"
            raise RefusedError(f"an expression in a prompt cannot contain {typed}")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RefusedError(f"the expression is nested more than {MAX_DEPTH} levels deep")
        try:
            return self._reader.admit(_NODES[kind](self, node))
        finally:
            self._depth -= 1

    def _const(self, node: Any) -> Any:
        return node.value

    def _name(self, node: Any) -> Any:
        return self._reader.root(node.name, self._names[node.name])

    def _many(self, node: Any) -> Any:
        made = tuple if type(node).__name__ == "Tuple" else list
        return made(self.value(item) for item in node.items)

    def _getattr(self, node: Any) -> Any:
        return either(self._reader, self.value(node.node), node.attr)

    def _getitem(self, node: Any) -> Any:
        value, key = self.value(node.node), self._key(node.arg)
        return either(self._reader, value, key, item_first=True)

    def _key(self, node: Any) -> Any:
        kind = type(node).__name__
        if kind == "Slice":
            bounds = (node.start, node.stop, node.step)
            return slice(*(None if bound is None else self._argument(bound) for bound in bounds))
        if kind == "Tuple":
            return tuple(map(self._key, node.items))
        return self._argument(node)

    def _argument(self, node: Any) -> Any:
        return self._reader.plain(self.value(node))

    def _call(self, node: Any) -> Any:
        if type(node.node).__name__ != "Getattr":
            self.value(node.node)  # for a function, its refusal names what it is
            raise RefusedError("a prompt can call methods of data only")
        value = self.value(node.node.node)
        return call(self._reader, value, node.node.attr, *self._arguments(node))

    def _arguments(self, node: Any) -> tuple[list[Any], dict[str, Any]]:
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            raise RefusedError("arguments cannot be unpacked with * or ** in a prompt")
        return [self._argument(arg) for arg in node.args], {kw.key: self._argument(kw.value) for kw in node.kwargs}

    def _filter(self, node: Any) -> Any:
        arguments = self._arguments(node)
        try:
            value = self.value(node.node)
        except MissingError:
            if node.name not in ("default", "d"):
                raise
            value, arguments = "", ([*arguments[0][:1], True], {})
        return apply(self._reader, node.name, value, *arguments)

    def _test(self, node: Any) -> Any:
        try:
            value = self.value(node.node)
        except MissingError:
            if node.name not in ("defined", "undefined"):
                raise
            return node.name == "undefined"
        return examine(self._reader, node.name, value, self._arguments(node)[0])

    def _binary(self, node: Any) -> Any:
        if "Test" in (type(node.left).__name__, type(node.right).__name__):  # Jinja reads x + (1 is none)
            raise RefusedError("arithmetic beside a test needs brackets: (x + 1) is none")
        return binary(self._reader, type(node).__name__, self.value(node.left), self.value(node.right))

    def _sign(self, node: Any) -> Any:
        return unary(self._reader, type(node).__name__, self.value(node.node))

    def _not_(self, node: Any) -> Any:
        return not truth(self._reader, self.value(node.node))

    def _and_(self, node: Any) -> Any:
        left = self.value(node.left)
        return self.value(node.right) if truth(self._reader, left) else left

    def _or_(self, node: Any) -> Any:
        left = self.value(node.left)
        return left if truth(self._reader, left) else self.value(node.right)

    def _compare(self, node: Any) -> Any:
        left, found = self.value(node.expr), True
        for operand in node.ops:
            right = self.value(operand.expr)
            found = compare_values(self._reader, operand.op, left, right)
            if len(node.ops) > 1 and not truth(self._reader, found):
                return False
            left = right
        return found

    def _concat(self, node: Any) -> Any:
        return chain([self._reader.text(self.value(part)) for part in node.nodes])

    def _condition(self, node: Any) -> Any:
        if truth(self._reader, self.value(node.test)):
            return self.value(node.expr1)
        if node.expr2 is None:
            raise MissingError("the condition is false, and there is no else")
        return self.value(node.expr2)


_NODES: dict[str, Callable[[Evaluation, Any], Any]] = {
    "Const": Evaluation._const, "Name": Evaluation._name, "List": Evaluation._many, "Tuple": Evaluation._many,
    "Getattr": Evaluation._getattr, "Getitem": Evaluation._getitem, "Call": Evaluation._call,
    "Filter": Evaluation._filter,
    "Test": Evaluation._test, "Neg": Evaluation._sign, "Pos": Evaluation._sign, "Not": Evaluation._not_,
    "And": Evaluation._and_, "Or": Evaluation._or_, "Compare": Evaluation._compare, "Concat": Evaluation._concat,
    "CondExpr": Evaluation._condition,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod"), Evaluation._binary),
}  # fmt: skip
