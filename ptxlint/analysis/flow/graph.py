"""The control-flow graph: basic blocks of a function and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator

from ...ptx.ir import Function, Instruction, Label, Symbol
from ..bitset import members
from ..branches import branch_targets
from ..facts import Facts, by_opcode

_LEAVES = frozenset({"ret", "exit", "trap"})
_TRANSFERS = _LEAVES | {"bra", "brx"}


class BasicBlock:
    """Instructions ``start`` to ``stop`` (exclusive), entered at the first and left at the last.

    Empty only where the function's first instruction is jumped to: the entry then has none.

    ``following`` is the block that the text runs on into, ``taken`` those that its branch may go
    to; ``successors`` are both, each once. ``leaves`` is whether control can leave the function
    here: ``ret``, ``exit``, ``trap`` or the end of the body.
    """

    __slots__ = (
        "following",
        "index",
        "leaves",
        "predecessors",
        "start",
        "stop",
        "successors",
        "taken",
    )

    def __init__(self, index: int, start: int, stop: int) -> None:
        self.index = index
        self.start = start
        self.stop = stop
        self.following: int | None = None
        self.taken: tuple[int, ...] = ()
        self.successors: tuple[int, ...] = ()
        self.predecessors: list[int] = []
        self.leaves = False

    def __len__(self) -> int:
        return self.stop - self.start


class ControlFlow:
    """The blocks of a function in the order of the text; block 0 is the entry.

    ``order`` is a reverse post-order of the blocks that can be reached from it, ``reached`` the
    same as a bit set. ``resolved`` is False where a branch goes to something that is no label
    here: what such a function does is not known.
    """

    __slots__ = ("_entered", "block_of", "blocks", "instructions", "order", "reached", "resolved")

    def __init__(self, instructions: list[Instruction], blocks: list[BasicBlock]) -> None:
        self.instructions = instructions
        self.blocks = blocks
        self.block_of: list[int] = []
        for block in blocks:
            self.block_of += [block.index] * len(block)
        self.resolved = True
        self.order: list[int] = []
        self.reached = 0
        self._entered: list[list[int] | None] = [None] * len(blocks)

    def following(self, index: int, stop: int = -1) -> int:
        """The blocks (a bit set) that some way leads to from a block's end, but for ``stop`` and
        what comes only behind it.
        """
        seen, waiting = 0, list(self.blocks[index].successors)
        while waiting:
            block = waiting.pop()
            if block != stop and not seen >> block & 1:
                seen |= 1 << block
                waiting += self.blocks[block].successors
        return seen

    def leads(self, first: int, second: int) -> bool:
        """Whether some way leads from one instruction to another one, or back to it."""
        start, end = self.block_of[first], self.block_of[second]
        return (start == end and first < second) or bool(self.following(start) >> end & 1)

    def places(self, blocks: int) -> Iterator[int]:
        """The instructions (by index) of a set of blocks, in order."""
        for block in members(blocks):
            yield from range(self.blocks[block].start, self.blocks[block].stop)

    def reached_predecessors(self, index: int) -> list[int]:
        """The predecessors of a block that can be reached, in the order of its phis' operands.

        For all callers one list: not to be changed.
        """
        found = self._entered[index]
        if found is None:
            found = [p for p in self.blocks[index].predecessors if self.reached >> p & 1]
            self._entered[index] = found
        return found

    def terminator(self, block: BasicBlock) -> Instruction | None:
        """The instruction that ends a block by a branch or by leaving; None if it runs on."""
        if block.stop > block.start:
            last = self.instructions[block.stop - 1]
            if last.opcode.mnemonic in _TRANSFERS:
                return last
        return None


def control_flow(function: Function, facts: Facts) -> ControlFlow:
    """The function's control-flow graph; a call is an instruction like any other.

    Empty (no blocks) for a declaration or a body without instructions.
    """
    labels = function.label_places()
    instructions = function.instructions
    starts = {0, *labels.values()}
    transfers = {o for o in facts.once(function, by_opcode) if o.mnemonic in _TRANSFERS}
    starts.update(
        [i + 1 for i, instruction in enumerate(instructions) if instruction.opcode in transfers]
    )
    # The end of the body is a place that a label can name; it has no block.
    bounds = sorted(start for start in starts if start < len(instructions))
    bounds.append(len(instructions))
    graph = _build(instructions, bounds, labels)
    if graph.blocks and graph.blocks[0].predecessors:
        # A loop back to the first instruction: the entry is a block of its own, with nothing in it.
        graph = _build(instructions, [0, *bounds], labels)
    return graph


def _build(
    instructions: list[Instruction], bounds: list[int], labels: dict[Label, int]
) -> ControlFlow:
    blocks = [BasicBlock(i, bounds[i], bounds[i + 1]) for i in range(len(bounds) - 1)]
    graph = ControlFlow(instructions, blocks)
    for block in blocks:
        _connect(graph, block, labels)
    for block in blocks:
        for successor in block.successors:
            blocks[successor].predecessors.append(block.index)
    graph.order = _reverse_postorder(blocks)
    for index in graph.order:
        graph.reached |= 1 << index
    return graph


def _connect(graph: ControlFlow, block: BasicBlock, labels: dict[Label, int]) -> None:
    if not len(block):
        block.following = block.index + 1
        block.successors = (block.following,)
        return
    last = graph.instructions[block.stop - 1]
    mnemonic = last.opcode.mnemonic
    taken: list[int] = []
    if mnemonic in _LEAVES:
        block.leaves = True
    elif mnemonic in ("bra", "brx"):
        for target in branch_targets(last)[1]:
            label = target.target if isinstance(target, Symbol) else None
            place = labels.get(label) if isinstance(label, Label) else None
            if place is None:
                graph.resolved = False
                block.leaves = True
            elif place == len(graph.instructions):
                block.leaves = True
            else:
                taken.append(graph.block_of[place])
    if mnemonic not in _TRANSFERS or last.guard is not None:
        if block.stop == len(graph.instructions):
            block.leaves = True
        else:
            block.following = block.index + 1
    block.taken = tuple(dict.fromkeys(taken))
    onward = () if block.following is None else (block.following,)
    block.successors = tuple(dict.fromkeys((*onward, *taken)))


def _reverse_postorder(blocks: list[BasicBlock]) -> list[int]:
    order: list[int] = []
    if not blocks:
        return order
    seen = {0}
    stack = [(0, iter(blocks[0].successors))]
    while stack:
        index, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(blocks[successor].successors)))
                break
        else:
            order.append(index)
            stack.pop()
    order.reverse()
    return order
