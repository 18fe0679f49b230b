"""How strong the networks of a run are: matches between them, and Elo over the first one."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..arena.elo import Tally, elo_difference, wilson_interval
from ..arena.network_match import NetworkMatchSettings, NetworkPlayer, play_networks
from ..arena.results import MatchResult
from ..base.errors import UserError
from ..nets.katago_file import NetworkFileError
from ..nets.library import load_network
from .limit import Limit
from .run_folder import RunFolder
from .run_settings import RunSettings

# Added to the wins and to the losses of a match before the score is converted to Elo, so that Elo and its interval are
# always finite.
_HALF_A_GAME = 0.5


def play_match(
    folder: RunFolder,
    settings: RunSettings,
    cycles: tuple[int, int],
    games: int,
    *,
    threads: int,
    limit: Limit,
    on_game: Callable[[int], None],
) -> MatchResult:
    """Plays a match between the networks of two cycles, on the run's most common board.

    Args:
        folder: The run's folder.
        settings: The run's settings.
        cycles: The cycles of the new and the old network.
        games: Number of games.
        threads: Threads of each network.
        limit: When to stop.
        on_game: Called with the number of finished games.

    Raises:
        Stopped: The limit was reached.
        UserError: The file of a network is missing or damaged.
    """
    boards = settings.games.boards
    width, height = max(boards, key=lambda board: boards[board])
    on_game(0)
    match = NetworkMatchSettings(
        games=games,
        visits=settings.match.visits,
        width=width,
        height=height,
        komi=settings.games.fair_komi(width, height),
        rules=settings.games.rulesets()[0],
        seed=settings.cycle.seed + cycles[0],
        threads=threads,
        device=settings.machine.device,
        precision=settings.machine.precision,
    )
    new, old = (_player(folder.network(cycle)) for cycle in cycles)
    try:
        return play_networks(
            new,
            old,
            match,
            on_game=lambda result, _: on_game(len(result.games)),
            on_progress=lambda _: limit.check(),
        )
    except KeyboardInterrupt:  # a match looks for Ctrl-C itself, and sees it before the limit is checked
        limit.check()
        raise


def _player(path: Path) -> NetworkPlayer:
    """Returns the player with a network of the run. Its errors do not advise downloading the file again."""
    try:
        load_network(path)
    except (OSError, NetworkFileError) as error:
        problem = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        advice = "restore it from a copy, or set every = 0 and gate = false in [match] of settings.toml"
        raise UserError(f"{path} is {problem}, and a match needs it: {advice}") from error
    return NetworkPlayer(str(path))


def last_rated(lines: Sequence[Mapping[str, Any]]) -> int:
    """Returns the last cycle whose Elo is in the log; 0, that of the first network, if there is none."""
    return max((line["cycle"] for line in lines if "elo" in line), default=0)


def elo_fields(lines: Sequence[Mapping[str, Any]], against: int, tally: Tally) -> dict[str, Any]:
    """Returns the log's fields about a match against an earlier network.

    The first network has Elo 0, any other one that of its opponent plus the difference in their match. The interval
    (95 %) grows from match to match: errors of independent differences add up as their squares. It is Wilson's for a
    score to which half a win and half a loss were added.

    Args:
        lines: The lines of the log so far.
        against: The cycle of the opponent.
        tally: The results of the match.
    """
    before = next((line for line in lines if line["cycle"] == against and "elo" in line), {})
    base = before.get("elo", 0.0)
    games = tally.games + 1
    score = (tally.games * tally.score + _HALF_A_GAME) / games
    gain = elo_difference(score)
    low, high = (elo_difference(end) for end in wilson_interval(score, games))
    below = math.hypot(gain - low, base - before.get("elo_low", base))
    above = math.hypot(high - gain, before.get("elo_high", base) - base)
    found = {"elo": base + gain, "elo_low": base + gain - below, "elo_high": base + gain + above}
    facts = {"against": against, "score": round(tally.score, 3), "match_games": tally.games}
    return facts | {name: round(elo, 1) for name, elo in found.items()}
