"""Plain Python for generated programs of KS-Lisp: an interpreter of its own, on floats, tuples and lists."""

import math
import re
from collections.abc import Callable
from typing import Any

Env = dict[str, Any]
Pointwise = Callable[[Any, Any], Any]


def pointwise(f: Pointwise) -> Pointwise:
    """On two numbers, or two lists entry by entry."""
    return lambda a, b: [f(x, y) for x, y in zip(a, b, strict=True)] if isinstance(a, list) else f(a, b)


PLAIN: dict[str, Callable[..., Any]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    "neg": lambda x: -x,
    "add": pointwise(lambda x, y: x + y),
    "sub": pointwise(lambda x, y: x - y),
    "mul": pointwise(lambda x, y: x * y),
    "gt": lambda x, y: x > y,
    "lt": lambda x, y: x < y,
    "sum": sum,
    "size": len,
    "index": lambda i, v: v[i],
    "tuple": lambda *xs: xs,
    "constVec": lambda n, x: [x] * n,
    "build": lambda n, f: [f(i) for i in range(n)],
    "sumbuild": lambda n, f: sum(f(i) for i in range(n)),
    "map": lambda f, v: [f(x) for x in v],
}


def forms(text: str) -> list[Any]:
    """Lists of lists of words."""
    around: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        if word == "(":
            around.append([])
        elif word == ")":
            done = around.pop()
            around[-1].append(done)
        else:
            around[-1].append(word)
    return around[0]


def bound(pattern: Any, value: Any, env: Env) -> Env:
    """With a name, or several, for a value."""
    names = pattern if isinstance(pattern, list) else [pattern]
    return {**env, **dict(zip(names, value if isinstance(pattern, list) else [value], strict=True))}


def value(e: Any, env: Env) -> Any:
    """The value of an expression."""
    match e:
        case str() if e in env:
            return env[e]
        case str():
            return float(e) if re.search("[.e]", e) else int(e)
        case ["let", [pattern, given], body]:
            return value(body, bound(pattern, value(given, env), env))
        case ["if", c, then, otherwise]:
            return value(then if value(c, env) else otherwise, env)
        case ["lam", [name, ":", *_], body]:
            return lambda x: value(body, bound(name, x, env))
        case ["fold", f, start, over]:
            step, made = value(f, env), value(start, env)
            for x in value(over, env):
                made = step((made, x))
            return made
        case [name, *args]:
            given = [value(arg, env) for arg in args]
            if len(given) == 1 and isinstance(given[0], tuple):  # several arguments by one name
                (given,) = given
            return (env[name] if name in env else PLAIN[name])(*given)
        case _:
            raise TypeError(e)


def function(text: str) -> Callable[..., Any]:
    """The last function of a text."""
    env: Env = {}
    name = ""
    for _, name, _, parameters, body in forms(text):
        names = [parameters[0]] if isinstance(parameters[0], str) else [one[0] for one in parameters]

        def run(*args: Any, names: list[str] = names, body: Any = body) -> Any:
            return value(body, {**env, **dict(zip(names, args, strict=True))})

        env[name] = run
    found: Callable[..., Any] = env[name]
    return found
