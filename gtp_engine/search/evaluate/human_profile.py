"""Profiles: the humans that a network trained on human games is to imitate, by name, and its 192 inputs for them.

Names and inputs are KataGo's (its parameter humanSLProfile; `SGFMetadata` in its sources, metadata encoder version 1):

=======  ===============================================================================================================
0, 1     the player to move is human, the opponent is
2-5      each of them without a rank, of an unknown one; always 0 here
6-39     rank of the player to move, as a number of ones: 1 for 9d to 29 for 20k
40-73    the opponent's
74       unrated game: 1, unknown: 0.5
75-81    one of: time unknown, none, absolute, simple, byo-yomi, Canadian, Fischer
82-85    main time, time and number of periods, moves a Canadian period, on logarithmic scales
86       ln(area / 361) / 2
87-150   the date: cosine and sine of its days since 1970 for 32 periods, from a week to 80,000 weeks
151-166  one of 16 sources
=======  ===============================================================================================================
"""

import math
import re
from dataclasses import dataclass
from datetime import date

from ...base.errors import UserError
from ...go.coords import BLACK
from ...nets.schema import METADATA

EXAMPLES = "rank_5k, rank_1d_3k (black, white), preaz_9d, proyear_1990"
# Words for no profile, in KataGo and in other parameters here.
_NONE = ("", "_", "none")

_RANKS = {f"{dan}d": 10 - dan for dan in range(1, 10)} | {f"{kyu}k": 9 + kyu for kyu in range(1, 21)}
_BEST = _RANKS["9d"]
_KGS, _GOGOD, _GO4GO = 2, 5, 6  # KataGo's numbers of sources
_FIRST_YEAR, _LAST_GOGOD_YEAR, _LAST_YEAR = 1800, 2020, 2023
_FIRST_RANK, _UNRATED, _UNKNOWN_TIME, _BYO_YOMI, _TIMES, _AREA = 6, 74, 75, 79, 82, 86  # inputs
_FIRST_DATE, _FIRST_SOURCE = 87, 151
_MAIN_SECONDS, _PERIOD_SECONDS, _PERIODS = 1200, 30, 5  # of KataGo's games by rank
_RANK_INPUTS = 34
_DATE_PERIODS, _SHORTEST_PERIOD, _PERIOD_RANGE = 32, 7.0, 80_000.0


@dataclass(frozen=True)
class Profile:
    """A pair of players: those of a server, on its usual clock, in games that may be rated; or professionals."""

    black_rank: int  # 1 for 9d to 29 for 20k
    white_rank: int
    day: date  # of their game
    source: int  # KataGo's number of the collection of games
    by_rank: bool  # whether they are those of a server


def profile_name(text: str) -> str:
    """Returns the name as `parse_profile` accepts it, "" for each word for no profile; UserError if it is unknown."""
    name = text.strip()
    if name in _NONE:
        return ""
    parse_profile(name)
    return name


def parse_profile(name: str) -> Profile:
    """Returns the profile of that name.

    Args:
        name: `rank_5k` for players of that rank, 20k to 9d; `rank_3d_5k` for black's and white's ranks; `preaz_5k` for
            the same before AlphaZero changed openings (2016); `proyear_1990` for professionals of that year, 1800 to
            2023.

    Raises:
        UserError: the profile is unknown.
    """
    ranked = re.fullmatch(r"(rank|preaz)_(\d+[dk])(?:_(\d+[dk]))?", name)
    if ranked and {ranked[2], ranked[3] or ranked[2]} <= _RANKS.keys():
        day = date(2020, 3, 1) if ranked[1] == "rank" else date(2016, 9, 1)
        return Profile(_RANKS[ranked[2]], _RANKS[ranked[3] or ranked[2]], day, _KGS, True)
    dated = re.fullmatch(r"proyear_(\d{4})", name)
    if dated and _FIRST_YEAR <= (year := int(dated[1])) <= _LAST_YEAR:
        source = _GOGOD if year <= _LAST_GOGOD_YEAR else _GO4GO
        return Profile(_BEST, _BEST, date(year, 6, 1), source, False)
    raise UserError(
        f"unknown profile {name!r:.60}: expected rank_20k to rank_9d, preaz_20k to preaz_9d, two ranks as in "
        f"rank_3d_5k, or proyear_{_FIRST_YEAR} to proyear_{_LAST_YEAR}"
    )


def check_profile(network: str, takes_profile: bool, profile: str) -> None:
    """Raises UserError if a network needs a profile and there is none (""), or does not take the one that there is."""
    if takes_profile and not profile:
        raise UserError(
            f"{network} imitates humans: choose a profile with --profile (humanSLProfile), in a match with --set-a and "
            f"--set-b profile=..., in Python with profile=..., such as {EXAMPLES}"
        )
    if profile and not takes_profile:
        raise UserError(
            f"{network} does not imitate humans: profiles such as {profile} are for networks trained on human games"
        )


def metadata_row(profile: Profile, to_move: int, area: int) -> list[float]:
    """Returns the 192 inputs for a position of a game between these players."""
    row = [0.0] * METADATA
    row[0] = row[1] = 1.0
    own, other = profile.black_rank, profile.white_rank
    if to_move != BLACK:
        own, other = other, own
    row[_FIRST_RANK : _FIRST_RANK + own] = [1.0] * own
    row[_FIRST_RANK + _RANK_INPUTS : _FIRST_RANK + _RANK_INPUTS + other] = [1.0] * other
    row[_UNRATED] = 0.5 if profile.by_rank else 0.0
    row[_BYO_YOMI if profile.by_rank else _UNKNOWN_TIME] = 1.0
    main, period, periods = (_MAIN_SECONDS, _PERIOD_SECONDS, _PERIODS) if profile.by_rank else (0, 0, 0)
    row[_TIMES:_AREA] = (
        0.4 * (math.log(main + 60) - 6.5),
        0.3 * (math.log(period + 1) - 3),
        0.5 * (math.log(periods + 2) - 1.5),
        0.25 * (math.log(2) - 1.5),  # no Canadian period
    )
    row[_AREA] = 0.5 * math.log(area / 361)
    days = (profile.day - date(1970, 1, 1)).days
    for number in range(_DATE_PERIODS):
        angle = math.tau * days / (_SHORTEST_PERIOD * _PERIOD_RANGE ** (number / (_DATE_PERIODS - 1)))
        row[_FIRST_DATE + 2 * number] = math.cos(angle)
        row[_FIRST_DATE + 2 * number + 1] = math.sin(angle)
    row[_FIRST_SOURCE + profile.source] = 1.0
    return row
