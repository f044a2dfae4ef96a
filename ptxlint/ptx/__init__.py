"""PTX text to IR and back."""

from .parser import parse as parse
