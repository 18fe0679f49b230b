"""How many of a player's three most important mistakes are in the lesson after the game.

    python benchmarks/lesson_mistakes.py ogs-19x19.sgfs [--games 40] [--visits 12] [--minutes 60] [--show]

The file has one SGF a line, with the players' ranks. A quarter of the games comes from each of `people_ranks.GROUPS`,
in the order of the file; one player of each learns. A review of its own, with another seed and more visits, finds the
mistakes and orders them by points at the game's level; those of 1.5 points or more count. One is in the lesson if a
move of it belongs to a mistake there. Results are kept by the game's number: use one file only.

Each game is appended to benchmarks/lesson_mistakes.jsonl, so that the same command resumes at any time; `--show` prints
the shares without searching.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any

from common import share
from kept_results import fingerprint, whole_lines
from people_ranks import GROUPS

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.study.lesson import after_game, worst_mistakes
from gtp_engine.study.level import read_rank
from gtp_engine.study.move_review import CLASSES, Mistake, find_mistakes
from gtp_engine.study.reviewer import Reviewer, ReviewTask

RESULTS = Path(__file__).resolve().parent / "lesson_mistakes.jsonl"
COUNTED = 3
LOOKED_AT = 4  # mistakes that the second look has to confirm
LEAST_MOVES = 80
SEED = 7  # not that of lessons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="one SGF a line")
    parser.add_argument("--games", type=int, default=40, help="a quarter of them from each group (default: 40)")
    parser.add_argument("--visits", type=int, default=12, help="of the first look at the truth (default: 12)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no game after them")
    parser.add_argument("--show", action="store_true", help="print the shares without searching")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    done = {game["game"] for game in kept()}
    for number, group, record, colour in [] if options.show else chosen(options.file, options.games // len(GROUPS)):
        if number not in done and time.monotonic() < end:
            found = {"game": number, "group": group} | judged(record, colour, options.visits)
            with RESULTS.open("a") as file:
                file.write(json.dumps(found | {"code": fingerprint()}) + "\n")
    for group in GROUPS:
        print(f"{group}: {taught(game for game in kept() if game['group'] == group)}")
    print(f"all: {taught(kept())}")


def chosen(path: Path, each: int) -> Iterator[tuple[int, str, GameRecord, int]]:
    """Yields games of each group in turn: the number, the group, the record, and the colour of who learns."""
    lines = path.read_bytes().splitlines()
    own: dict[str, list[tuple[int, str, GameRecord, int]]] = {group: [] for group in GROUPS}
    used: set[int] = set()
    for group, (low, high) in GROUPS.items():
        for number, record in enumerate(map(read_sgf, lines)):
            sides = [(BLACK, record.black_rank), (WHITE, record.white_rank)][:: 1 if number % 2 else -1]
            ranks = [(colour, rank) for colour, text in sides if (rank := read_rank(text)) is not None]
            colours = [colour for colour, rank in ranks if low <= rank <= high]
            if colours and number not in used and len(record.moves) >= LEAST_MOVES and len(own[group]) < each:
                own[group].append((number, group, record, colours[0]))
                used.add(number)
    for turn in range(each):
        yield from (games[turn] for games in own.values() if turn < len(games))


def judged(record: GameRecord, colour: int, visits: int) -> dict[str, Any]:
    """Returns the most important mistakes of a player, and which of them the lesson has."""
    began = time.monotonic()
    lesson = after_game(ReviewTask(record, player=colour), EngineSettings()).start().result()
    seconds = time.monotonic() - began
    told = {miss.number for mistake in worst_mistakes(lesson) for miss in mistake.misses}
    task = ReviewTask(record, player=colour, most=LOOKED_AT, estimates_ranks=False)
    with closing(Reviewer(EngineSettings(visits=visits, seed=SEED))) as reviewer:
        *_, last = takewhile(lambda step: step.stage in ("moves", "again"), reviewer.steps(task))
    true = [each for each in find_mistakes(last.review.searched, colour) if counts(each)][:COUNTED]
    return {
        "colour": colour,
        "seconds": round(seconds),
        "mistakes": [each.span for each in true],
        "points": [each.worst.points_loss for each in true],
        "taught": [any(miss.number in told for miss in each.misses) for each in true],
    }


def counts(mistake: Mistake) -> bool:
    """Returns whether a mistake counts: the second look has confirmed it, and it cost enough."""
    return mistake.is_checked and mistake.worst.points_loss >= CLASSES[1]


def kept() -> list[dict[str, Any]]:
    """Returns the games so far."""
    return [json.loads(line) for line in whole_lines(RESULTS)]


def taught(games: Any) -> str:
    """Returns the share of the mistakes of games that are in their lessons."""
    found = [each for game in games for each in game["taught"]]
    return share(sum(found), len(found))


if __name__ == "__main__":
    main()
