"""The GTP commands, one module per subject. Importing this package registers all of them."""

from ..session import COMMANDS
from . import analysis, basic, gogui, moves, position

__all__ = ["COMMANDS", "analysis", "basic", "gogui", "moves", "position"]
