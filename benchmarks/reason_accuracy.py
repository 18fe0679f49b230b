"""How many costly mistakes get a reason, and how many of these reasons a stronger network confirms.

    python benchmarks/reason_accuracy.py dan19.zip --judge kata1-b18c384nbt [--member kgs6d] [--mistakes 200]
        [--visits 100] [--times 10] [--least 5] [--each 3] [--skip 0] [--seed 1]

Reviews games in an order that depends on the seed alone, and takes the most costly mistakes of each that the second
look confirms, until there are enough. The judge searches the positions after the move played and after the better one,
with more visits, and each stated fact is checked with its values:

- Groups: the stones' owner after each of the two moves is the one stated; of those that are only safer or weaker, the
  judge sees at least half of the change.
- Captured stones, ladders that work and missed ataris: after the one move the stones belong to the captor, and less so
  after the other, by at least half of the change without which nothing is told. The rules prove the line itself.
- Ladders that fail, and settled points: the stones, or the point, belong to the owner stated.
- Connections: the points of the chains change owners by at least half of the change without which nothing is told.
- Regions, sente, early passes: the judge sees at least half of the points.

If the longer search of the review itself doubts the loss, it says only that; these mistakes are counted apart, and how
often the judge doubts them too. Shows every sentence with the verdict, then, also after Ctrl-C, the shares of mistakes
with a reason and of sentences that fail, with 95 % intervals. "A bigger move elsewhere" counts as a reason, because it
says where; a number of points alone does not. The loss that the judge finds is shown too: facts may hold even if the
judge sees no mistake.
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
from gtp_engine.study.reasons.explain import LINE_FACTOR, facts_about, study_of, with_threats
from gtp_engine.study.reasons.facts import LEAST_CAPTURE_CHANGE, LEAST_CONNECTION_CHANGE
from gtp_engine.study.reasons.variation import Fact, Study, cell_of
from gtp_engine.study.searches import Positions, Searches, look_again, review_moves

_DOUBTS = ("notBetter", "doubtful", "doubtfulWinrate")  # names of facts
# Half of the changes of ownership without which captures and connections are not told.
_LEAST_CAPTURED, _LEAST_CONNECTED = LEAST_CAPTURE_CHANGE / 2, LEAST_CONNECTION_CHANGE / 2


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
    study, judged = (study_of(each, game, move.move.colour, move.move.point, move.best) for each in both)
    if study is None or judged is None:
        return
    facts = facts_about(both[0], study, move.points_loss)
    if any(fact.name == "sente" for fact in facts):
        judged = with_threats(both[1], judged)
    sentences = [(fact, study.reason(fact).text) for fact in facts]
    tally.add(f"{name} move {move.number}", sentences, judged, (move.points_loss, study.points_loss))


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
        self.mistakes = self.explained = self.real = self.doubted = self.doubted_rightly = 0
        self.told: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, name: str, facts: Sequence[tuple[Fact, str]], judged: Study, losses: tuple[float, float]) -> None:
        """Checks the facts about a mistake, given with their sentences, and prints them.

        Args:
            name: The game and the move.
            facts: What is told.
            judged: The judge's study of the mistake.
            losses: The points that it loses by the review, and by its longer search.
        """
        loss, longer = losses
        is_real = judged.points_loss >= loss / 2
        is_doubted = any(fact.name in _DOUBTS for fact, _ in facts)
        self.mistakes += 1
        self.explained += bool(facts) and not is_doubted
        self.real += is_real
        self.doubted += is_doubted
        self.doubted_rightly += is_doubted and not is_real
        print(
            f"{name}: {loss:.1f} points lost, {longer:.1f} by the longer search, {judged.points_loss:.1f} by the judge",
            flush=True,
        )
        for fact, text in facts:
            if is_doubted:
                print(f"  {text}", flush=True)
                continue
            kind, right = fact.name, holds(fact, judged)
            self.told[kind] += 1
            self.failed[kind] += not right
            print(f"  {'holds' if right else 'FAILS'}: {text}", flush=True)

    def show(self, seconds: float) -> None:
        """Prints the shares."""
        print(f"{self.mistakes} mistakes in {seconds:.0f} s")
        print(f"doubted by the longer search: {share(self.doubted, self.mistakes)}")
        print(f"of these, those that the judge doubts too: {share(self.doubted_rightly, self.doubted)}")
        print(f"with a reason, of the others: {share(self.explained, self.mistakes - self.doubted)}")
        print(f"the judge sees at least half of the loss: {share(self.real, self.mistakes)}")
        total, failed = self.told.total(), self.failed.total()
        print(f"sentences: {total}, that fail: {share(failed, total)}")
        for kind, count in self.told.most_common():
            print(f"  {kind}: {count}, that fail: {share(self.failed[kind], count)}")


def holds(fact: Fact, judged: Study) -> bool:
    """Returns whether a fact holds by the judge's study of the same two moves."""
    better, played = judged.better, judged.played
    change = judged.change(fact.points) if fact.points else 0.0
    match fact.name:
        case "dies" | "lives":
            return better.owned(fact.points) > 0 > played.owned(fact.points)
        case "weaker" | "stronger":
            return change / 2 >= abs(fact.amounts[0] - fact.amounts[1]) / 2
        case "taken" | "catches":
            return change >= _LEAST_CAPTURED and better.owned(fact.points) > 0
        case "lost" | "atari" | "caught":
            return change >= _LEAST_CAPTURED and played.owned(fact.points) < 0
        case "escapes" | "runs":
            return played.owned(fact.points) < 0
        case "cut" | "connected":
            return change >= _LEAST_CONNECTED
        case "own" | "others" | "dame":
            owned = better.ownership[cell_of(judged.move, judged.game.width)]
            return bool({"own": owned > 0.5, "others": owned < -0.5}.get(fact.name, abs(owned) < 0.5))
        case "region" | "elsewhere":
            return change * len(fact.points) >= fact.amounts[0] / 2
        case "sente":
            gain, less = better.gain_if_ignored or 0.0, played.gain_if_ignored or 0.0
            return gain >= fact.amounts[0] / 2 and gain > less
        case "passed":
            return judged.points_loss >= fact.amounts[0] / 2
    raise TypeError(f"no check for {fact!r}")


if __name__ == "__main__":
    main()
