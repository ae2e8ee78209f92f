"""Functions of tests as programs of their own: `python -c` runs `text_of(partial(write, rows=3))`.

A program is a function that lint and type checks see. It runs in a process that knows neither
pytest nor the test; modules, constants and functions of its module that it uses come along. Its
body becomes the top level of the program: what it leaves open is open until the process ends.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_TESTS = Path(__file__).resolve().parents[1]
Program = str | Callable[..., object]


def text_of(program: Program) -> str:
    """What `python -c` takes; a text as it is."""
    if isinstance(program, str):
        return textwrap.dedent(program)
    call = program if isinstance(program, partial) else partial(program)
    defined: dict[str, str] = {}
    _define(call.func, defined)
    source = defined.pop(call.func.__name__)
    given = inspect.signature(call.func).bind(*call.args, **call.keywords)
    given.apply_defaults()
    values = [f"{name} = {_literal(value)}" for name, value in given.arguments.items()]
    first = "from __future__ import annotations"
    return "\n".join([first, *defined.values(), *values, _body(source), ""])


def _literal(value: object) -> str:
    return repr(str(value)) if isinstance(value, Path) else repr(value)


def _body(source: str) -> str:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    return textwrap.dedent("\n".join(source.splitlines()[function.body[0].lineno - 1 :]))


def _define(function: Callable[..., object], defined: dict[str, str]) -> None:
    """Adds a function behind all that it uses of its module."""
    assert isinstance(function, FunctionType), f"{function} is no function of a test"
    assert not function.__closure__, f"{function.__name__} uses variables of the test around it"
    defined[function.__name__] = ""  # before what calls it again
    for name in _names(function.__code__):
        if name in function.__globals__ and name not in defined:
            _bring(name, function.__globals__[name], defined)
    del defined[function.__name__]
    defined[function.__name__] = textwrap.dedent(inspect.getsource(function))


def _bring(name: str, value: Any, defined: dict[str, str]) -> None:
    if isinstance(value, ModuleType):
        defined[name] = f"import {value.__name__} as {name}"
    elif isinstance(value, FunctionType) and _TESTS in Path(inspect.getfile(value)).parents:
        _define(value, defined)
    elif isinstance(value, type | FunctionType):
        defined[name] = f"from {value.__module__} import {value.__qualname__} as {name}"
    else:
        defined[name] = f"{name} = {_literal(value)}"


def _names(code: CodeType) -> Iterator[str]:
    """All global names, of functions within, too. pytest's own begin with @."""
    loaded = [
        one for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    yield from (one.argval for one in loaded if not one.argval.startswith(("@", "__")))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
