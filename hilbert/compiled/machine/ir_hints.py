"""The metadata of a loop: whether its rounds may run at once, as vectors, and whether they may be written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import define, field

if TYPE_CHECKING:
    from hilbert.compiled.tree.statements import For


@final
@define
class Metadata:
    """The nodes of metadata of a module, by number."""

    nodes: list[str | None] = field(factory=list)

    def note(self, text: str | None) -> int:
        """The number of a new node."""
        self.nodes.append(text)
        return len(self.nodes) - 1


def hints_of(loop: For, group: int | None, metadata: Metadata) -> str:
    """The end of the line of a branch that says what is known of a loop, and whether it may be written out."""
    note, size, hints = metadata.note, loop.variable.size, list[int]()
    if loop.variable.is_rolled:
        hints += [note('!{!"llvm.loop.unroll.disable"}'), note('!{!"llvm.loop.vectorize.enable", i1 false}')]
    elif loop.is_parallel:
        hints.append(note(f'!{{!"llvm.loop.parallel_accesses", !{group}}}'))
        if size >= 8:  # not written out before it is made of vectors: the loop around it would be one of gathers
            done = note('!{!"llvm.loop.isvectorized", i32 1}')
            hints += [
                note(f'!{{!"llvm.loop.vectorize.followup_all", !{done}}}'),
                note('!{!"llvm.loop.unroll.disable"}'),
            ]
            if size % 8 and size < 256:
                hints.append(note('!{!"llvm.loop.vectorize.predicate.enable", i1 true}'))
    if not hints:
        return ""
    me = note(None)
    metadata.nodes[me] = f"distinct !{{!{me}, {', '.join(f'!{h}' for h in hints)}}}"
    return f", !llvm.loop !{me}"
