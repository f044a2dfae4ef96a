"""The IR: what a PTX module is made of.

Offsets (``start``, ``end``) count characters of ``Module.source.text``. Operands are shared:
every mention of ``%r1`` in one scope is the same ``Register`` object, so that identity is
equality. Nothing here is changed after parsing.
"""

from .module import (
    Module as Module,
)
from .module import (
    NameProblem as NameProblem,
)
from .module import (
    SyntaxProblem as SyntaxProblem,
)
from .operands import (
    Address as Address,
)
from .operands import (
    Arguments as Arguments,
)
from .operands import (
    Difference as Difference,
)
from .operands import (
    Element as Element,
)
from .operands import (
    Float as Float,
)
from .operands import (
    Generic as Generic,
)
from .operands import (
    InitialiserList as InitialiserList,
)
from .operands import (
    Integer as Integer,
)
from .operands import (
    Masked as Masked,
)
from .operands import (
    Offset as Offset,
)
from .operands import (
    Operand as Operand,
)
from .operands import (
    Pair as Pair,
)
from .operands import (
    Prefixed as Prefixed,
)
from .operands import (
    Property as Property,
)
from .operands import (
    Register as Register,
)
from .operands import (
    Sink as Sink,
)
from .operands import (
    SpecialRegister as SpecialRegister,
)
from .operands import (
    Subscript as Subscript,
)
from .operands import (
    Symbol as Symbol,
)
from .operands import (
    Vector as Vector,
)
from .statements import (
    Block as Block,
)
from .statements import (
    Data as Data,
)
from .statements import (
    Declaration as Declaration,
)
from .statements import (
    Directive as Directive,
)
from .statements import (
    Function as Function,
)
from .statements import (
    Guard as Guard,
)
from .statements import (
    Instruction as Instruction,
)
from .statements import (
    Label as Label,
)
from .statements import (
    Loc as Loc,
)
from .statements import (
    Opcode as Opcode,
)
from .statements import (
    Prototype as Prototype,
)
from .statements import (
    Section as Section,
)
from .statements import (
    SectionItem as SectionItem,
)
from .statements import (
    Statement as Statement,
    SymbolTarget as SymbolTarget,
)
from .statements import (
    Targets as Targets,
)
from .statements import (
    Variable as Variable,
)
