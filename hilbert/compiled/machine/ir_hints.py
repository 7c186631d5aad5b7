"""The metadata of a loop: whether its rounds may run at once, as vectors, and whether they may be written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.compiled.tree.statements import For

UNROLLED = '!{!"llvm.loop.unroll.disable"}'


def hints_of(loop: For, group: int | None, note: Callable[[str], int]) -> str:
    """The end of the line of a branch that says what is known of a loop; `note` numbers what is said."""
    size, hints = loop.variable.size, list[int]()
    if loop.variable.is_rolled:
        hints += [note(UNROLLED), note('!{!"llvm.loop.vectorize.enable", i1 false}')]
    elif loop.is_parallel:
        hints.append(note(f'!{{!"llvm.loop.parallel_accesses", !{group}}}'))
        if size >= 8:  # not written out before it is made of vectors: the loop around it would be one of gathers
            done = note('!{!"llvm.loop.isvectorized", i32 1}')
            hints += [note(f'!{{!"llvm.loop.vectorize.followup_all", !{done}}}'), note(UNROLLED)]
            if size % 8 and size < 256:
                hints.append(note('!{!"llvm.loop.vectorize.predicate.enable", i1 true}'))
    if not hints:
        return ""
    me = note("distinct !{{me}, " + ", ".join(f"!{h}" for h in hints) + "}")
    return f", !llvm.loop !{me}"
