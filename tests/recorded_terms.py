"""The laws of functions of functions on many generated terms, with the counts of formers and of rules.

    make terms [ARGS="--terms 3000 --first 0 --law Ω"]

Without `--law` the formers and rules are counted, too. Each law is a test that takes a seed; here it is run on as many
seeds as asked for, from the first one on. What a law does not hold for is printed with its seed, and the exit status
is 1. Terms at which the reduction stops because a covector of functions moves (`docs/limits.md`) are counted by
themselves, and may be one in a hundred.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from adjoint.higher import reduce, steps
from adjoint.higher.term import jacobian
from adjoint.higher.term.claims import same
from diff.lam.files.type_of_term import type_of
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import App, Core, Dv, Ev, Lam, Let, Pull, Pullbacks, below, fresh
from diff.lam.term.types import REAL, Arrow, dual
from tests.adjoint.higher import test_generated_pullbacks as with_pullbacks
from tests.adjoint.higher import test_pullback_laws as pullbacks
from tests.adjoint.higher import test_steps
from tests.diff.higher import test_generated_terms as generated

if TYPE_CHECKING:
    from collections.abc import Callable

Law = tuple[str, "Callable[..., Any]", bool]
"""What is said, the test, and whether it takes orders, too."""
FORMERS = [one.__name__ for one in (*get_args(Core), *get_args(Pullbacks)) if one not in (Ev, Dv)]
"""Covectors on functions that move are a limit of the reduction."""
RULES = [
    "A",
    *map(str, range(1, 16)),
    "16a",
    "16b",
    "16c",
    "17",
    "18",
    "19a",
    "19b",
    "19c",
    "19d",
    "20a",
    "20b",
    "§",
    "§13",
]
LAWS: list[Law] = [
    ("t has its type", generated.test_generated_terms_have_their_type, False),
    ("D keeps types", generated.test_macro_preserves_types, True),
    ("D(t[s/x]) = D(t)[D(s)/x]", generated.test_macro_commutes_with_substitution, False),
    ("value before and after β", generated.test_value_before_and_after_beta, False),
    ("slot 0 of D(t) is t", generated.test_slot_zero_is_the_value, False),
    ("D = jets of the program", generated.test_macro_agrees_with_jets, True),
    ("D_(1,1) twice", generated.test_iterated_macro_is_the_squarefree_one, False),
    ("D = jet of the program, all types", generated.test_macro_is_the_jet_of_the_program, False),
    ("Ω = gradient of the program", pullbacks.test_pullbacks_are_gradients, False),
    ("Ω = rows of Jacobians", pullbacks.test_rows_of_jacobians, False),
    ("Ω = D_(1,1) at embedded pairs", pullbacks.test_pullbacks_agree_with_the_macro, False),
    ("Ω = slopes of families", pullbacks.test_pullbacks_are_slopes_of_families, False),
    ("Ω in Ω = second derivatives", pullbacks.test_nested_pullbacks_are_second_derivatives, False),
    ("contravariance", pullbacks.test_contravariance, False),
    ("Ω of terms with Ω: steps = reduce", with_pullbacks.test_steps_and_reduce, False),
    ("… with a free 1-form", with_pullbacks.test_steps_with_a_free_form, False),
    ("… = central differences", with_pullbacks.test_pullbacks_are_differences, False),
    ("A-reduction keeps type and value", test_steps.test_a_reduction, False),
]


def formers(seeds: range) -> Counter[str]:
    """How often each former stands in generated terms."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        stack: list[Any] = [generated.closed(seed)[0], with_pullbacks.generated(seed)[0]]
        while stack:
            node = stack.pop()
            seen[type(node).__name__] += 1
            stack.extend(below(node))
    return seen


def rules(seeds: range) -> tuple[Counter[str], Counter[str]]:
    """How often each rule is used by `steps`, premises too, on a term without pullbacks and one with them a seed.

    And for how many of them types are kept and the end is that of `reduce`.
    """
    rule = jacobian.rule

    def noted(term: Any, moved: Any) -> Any:
        number, made = yield rule(term, moved)
        seen[number] += 1
        return number, made

    jacobian.rule = noted
    seen: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    w = fresh("w", Arrow(REAL, dual(REAL)))
    for seed in range(2 * seeds.start, 2 * seeds.stop):
        if seed % 2:
            x, body, at = test_steps.generated(seed // 2)
            term: Any = App(Pull(x, body, with_pullbacks.ONE), at)
        else:
            is_open = seed % 10 == 4
            term = with_pullbacks.generated(seed // 2, w if is_open else with_pullbacks.ONE)[0]
        last = term
        try:
            for step in steps(term):
                last = step.term
                seen.update({step.rule, step.premise} - {""})
                if type_of(last) is not type_of(term):
                    ends[f"type lost at seed {seed}"] += 1
        except TermError as error:
            ends["at the limit" if is_limit(error) else f"error {error.code} at seed {seed}"] += 1
            continue
        left, right = last, reduce(term)
        if not seed % 2 and is_open:  # compared once the free 1-form is given
            left, right = (reduce(Let(w, with_pullbacks.ONE, one)) for one in (left, right))
        if not same(left, right):  # functions in normal forms are not entered
            left, right = entered(left), entered(right)
        ends["agree" if same(left, right) else f"differ at seed {seed}"] += 1
    return seen, ends


def is_limit(error: Exception) -> bool:
    """Whether it is the limit of the reduction."""
    return isinstance(error, TermError) and error.code == "limit" and "a covector of functions moves" in error.message


def entered(term: Any) -> Any:
    """A covector at a function, with the body of the function reduced."""
    match term:
        case Ev(Lam(pattern, body), covector):
            return Ev(Lam(pattern, reduce(body)), covector)
        case _:  # as it is
            return term


def counted(seeds: range) -> int:
    """Print the counts of formers, of rules and of how reductions end; and how many of them are wrong."""
    seen = formers(seeds)
    print("formers:", ", ".join(f"{name} {n}" for name, n in sorted(seen.items())), flush=True)
    used, ends = rules(seeds)
    print("rules:", ", ".join(f"{name} {n}" for name, n in sorted(used.items())))
    print("steps and reduce:", ", ".join(f"{name} {n}" for name, n in sorted(ends.items())), flush=True)
    rare = [name for name in (*FORMERS, *RULES) if len(seeds) >= 3000 and max(seen[name], used[name]) < 100]
    print("below 100:", ", ".join(rare) or "none", flush=True)
    wrong = sum(n for name, n in ends.items() if name.startswith(("differ", "type", "error")))
    return len(rare) + wrong + (100 * ends["at the limit"] > 2 * len(seeds))


def main() -> None:
    """Run all, print the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--terms", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--law", default="", help="only the laws whose text has this in it")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.terms)
    failed = 0 if args.law else counted(seeds)
    for what, law, takes_orders in LAWS:
        if args.law not in what:
            continue
        begin, broken, limited = time.perf_counter(), list[str](), 0
        for seed in seeds:
            try:
                law(seed, generated.ORDERS[seed % len(generated.ORDERS)]) if takes_orders else law(seed)
            except Exception as error:  # noqa: BLE001 - it is told
                if is_limit(error):
                    limited += 1
                else:
                    broken.append(f"{seed} ({type(error).__name__})")
        failed += len(broken) + (100 * limited > len(seeds))
        verdict = f"fails at {', '.join(broken[:5])}" if broken else "holds"
        verdict += f", {limited} at the limit" if limited else ""
        print(f"{what:36} {len(seeds)} terms, {time.perf_counter() - begin:5.0f} s: {verdict}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
