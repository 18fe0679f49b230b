"""How many costly mistakes get a reason, and how many of these reasons a stronger network confirms.

    python benchmarks/reason_accuracy.py dan19.zip --judge kata1-b18c384nbt [--member kgs6d] [--mistakes 200]
        [--visits 100] [--times 10] [--least 5] [--each 3] [--skip 0] [--seed 1]

Reviews games in an order that depends on the seed alone, and takes the most costly mistakes of each that the second
look confirms, until there are enough. They are explained as a review does. The judge searches the positions after the
move played and after the better one, with more visits, and sees whether each stated fact holds: who owns the stones or
the points, with 0.2 (of -1 to 1) more doubt than the review itself allows, or at least half of the change. What is
proved by the rules or by the solver is not checked again.

Mistakes for which the longer searches find less than half of the loss are counted separately. Shows every sentence with
the verdict, then, also after Ctrl-C, the shares of mistakes with a reason and of sentences that fail, with 95 %
intervals, and how many of the costly mistakes have a reason that names stones: a capture, life and death, a race, a
cut, a ladder.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from common import network_or_default, records_of, share

from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.evaluator import make_evaluator
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits
from gtp_engine.study.move_review import MoveReview, find_mistakes
from gtp_engine.study.reasons.explain import LINE_FACTOR, facts_about, seen_deeper, study_in, study_of, with_threats
from gtp_engine.study.reasons.facts import REGIONS, as_seen_by
from gtp_engine.study.reasons.variation import Fact, Study
from gtp_engine.study.searches import Positions, Searches, look_again, review_moves

_LEAST_SHARE = 0.5  # of what is stated
# Names of facts that do not name stones.
_POINTS = {"passed", "own", "others", "dame", "sente", "koTaken", "koEnded", "koIgnored", "koThreat", *REGIONS}


def main() -> None:
    options = parse_arguments()
    network = network_or_default(options.network, 19)
    own, judge = (make_evaluator(name, threads=1, seed=options.seed) for name in (network, options.judge))
    visits = options.visits
    searches = Searches(own, default_parameters(network), Limits(visits), options.seed)
    judge_limits = Limits(visits * options.times // LINE_FACTOR)  # the studies multiply them
    judging = Searches(judge, default_parameters(options.judge), judge_limits, options.seed)
    tally = Tally()
    began = time.monotonic()
    try:
        for name, game, move in mistakes_of(options, searches):
            examine(name, game, move, (searches, judging), tally)
            if tally.mistakes == options.mistakes:
                break
    except KeyboardInterrupt:
        print("stopped")
    tally.show(time.monotonic() - began)


def examine(name: str, game: Game, move: MoveReview, both: tuple[Searches, Searches], tally: "Tally") -> None:
    """Explains a mistake, and has the judge check what is told.

    Args:
        name: The game.
        game: The position before the move.
        move: The move.
        both: The review's searches, and the judge's.
        tally: Gets the result.
    """
    places = move.move.colour, move.move.point, move.best
    first, judged = study_in(game, move), study_of(both[1], game, *places)
    second = seen_deeper(both[0], first)
    if second is None or judged is None:
        return
    studies = (first, second)
    sceptical = min(studies, key=lambda study: study.points_loss)
    facts = [as_seen_by(sceptical, fact) for fact in facts_about(both[0], studies)]
    if any(fact.name == "sente" for fact in facts):
        judged = with_threats(both[1], judged)
    sentences = [(fact, sceptical.reason(fact).text) for fact in facts]
    tally.add(f"{name} move {move.number}", sentences, judged, (move.points_loss, sceptical.points_loss))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="a zip archive with one SGF a line in its members")
    parser.add_argument("--judge", required=True, help="the stronger network, a file or a name")
    parser.add_argument("--network", help="of the review, a file or a name (default: the bundled one for 19x19)")
    parser.add_argument("--member", default="", help="only members whose names begin so (default: all)")
    parser.add_argument("--mistakes", type=int, default=200, help="mistakes to check (default: 200)")
    parser.add_argument("--visits", type=int, default=100, help="of each search of the review (default: 100)")
    parser.add_argument(
        "--times", type=int, default=10, help="factor from the visits of the review to those of the judge (default: 10)"
    )
    parser.add_argument("--least", type=float, default=5.0, help="points that a mistake loses (default: 5)")
    parser.add_argument("--each", type=int, default=3, help="mistakes of one game, the most costly (default: 3)")
    parser.add_argument("--skip", type=int, default=0, help="games of the order to leave out first (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of the order and of the searches (default: 1)")
    return parser.parse_args()


def mistakes_of(options: argparse.Namespace, searches: Searches) -> Iterator[tuple[str, Game, MoveReview]]:
    """Yields the most costly mistakes of the games, with the name of the game and the position before the move."""
    records = list(records_of(options.records, options.member))
    random.Random(options.seed).shuffle(records)
    for name, record in records[options.skip :]:
        positions = Positions(record)
        if positions.problem:  # an illegal move
            print(f"{name} is left out: {positions.problem}", file=sys.stderr)
            continue
        moves = tuple(review_moves(searches, positions))
        *_, moves = moves, *look_again(searches, positions, moves)
        checked = (mistake.worst for mistake in find_mistakes(moves) if mistake.worst.is_checked)
        worst = [move for move in checked if move.points_loss > options.least]
        for move in worst[: options.each]:
            yield name, positions[move.number - 1], move


class Tally:
    """Counts mistakes with and without reasons, and sentences that hold or fail."""

    def __init__(self) -> None:
        self.mistakes = self.doubted = self.explained = self.named = self.real = 0
        self.told: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, name: str, facts: Sequence[tuple[Fact, str]], judged: Study, losses: tuple[float, float]) -> None:
        """Checks the facts about a mistake, given with their sentences, and prints them.

        Args:
            name: The game and the move.
            facts: What is told.
            judged: The judge's study of the mistake.
            losses: The points that it loses by the review, and by its longer searches.
        """
        loss, longer = losses
        self.mistakes += 1
        print(
            f"{name}: {loss:.1f} points lost, {longer:.1f} by longer searches, {judged.points_loss:.1f} by the judge",
            flush=True,
        )
        if longer < loss / 2:
            self.doubted += 1
            return
        self.explained += bool(facts)
        self.named += any(fact.name not in _POINTS for fact, _ in facts)
        self.real += judged.points_loss >= longer / 2
        for fact, text in facts:
            right = holds(fact, judged)
            self.told[fact.name] += 1
            self.failed[fact.name] += not right
            print(f"  {'holds' if right else 'FAILS'}: {text}", flush=True)

    def show(self, seconds: float) -> None:
        """Prints the shares."""
        print(f"{self.mistakes} mistakes in {seconds:.0f} s")
        print(f"doubted by the longer searches: {share(self.doubted, self.mistakes)}")
        others = self.mistakes - self.doubted
        print(f"of the others, with a reason: {share(self.explained, others)}")
        print(f"with one that names stones: {share(self.named, others)}")
        print(f"the judge sees at least half of the loss: {share(self.real, others)}")
        total, failed = self.told.total(), self.failed.total()
        print(f"sentences: {total}, that fail: {share(failed, total)}")
        for kind, count in self.told.most_common():
            print(f"  {kind}: {count}, that fail: {share(self.failed[kind], count)}")


def holds(fact: Fact, judged: Study) -> bool:
    """Returns whether a fact holds by the judge's study of the same two moves."""
    if fact.name == "passed":
        return judged.points_loss >= _LEAST_SHARE * fact.amounts[0]
    if fact.name == "sente":
        gain, less = judged.better.gain_if_ignored or 0.0, judged.played.gain_if_ignored or 0.0
        return gain >= _LEAST_SHARE * fact.amounts[0] and gain > less
    if fact.name in REGIONS and len(fact.amounts) > 1:
        in_return = len(fact.points) * judged.change(fact.points) - judged.points_loss
        return fact.holds(judged, _LEAST_SHARE) and in_return >= _LEAST_SHARE * fact.amounts[1]
    return fact.holds(judged, _LEAST_SHARE)


if __name__ == "__main__":
    main()
