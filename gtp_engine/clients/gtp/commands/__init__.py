"""The GTP commands, one module per subject. Importing this package registers all of them."""

from ..session import COMMANDS
from . import analysis, basic, game, gogui

__all__ = ["COMMANDS", "analysis", "basic", "game", "gogui"]
