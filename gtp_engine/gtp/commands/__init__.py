"""The GTP commands, a module a subject.

`list_commands` shows them in the order of these imports: LizzieYzy recognises the list by `protocol_version` at its
top.
"""

# isort: off
from . import administrative, board, handicap, clock, genmove, analysis, scoring, rules, parameters, records
from . import raw_network, gogui, gogui_maps, servers

# isort: on
from ..registry import COMMANDS

__all__ = [
    "COMMANDS",
    "administrative",
    "analysis",
    "board",
    "clock",
    "genmove",
    "gogui",
    "gogui_maps",
    "handicap",
    "parameters",
    "raw_network",
    "records",
    "rules",
    "scoring",
    "servers",
]
