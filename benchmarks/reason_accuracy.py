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
from gtp_engine.go.sgf import GameRecord, SgfError
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.factory import make_evaluator
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits
from gtp_engine.study.mistakes import find_mistakes
from gtp_engine.study.reasons.explain import LINE_FACTOR, Explainer, reason_of
from gtp_engine.study.reasons.facts import (
    ALIVE,
    DEAD,
    LEAST_CAPTURE_CHANGE,
    LEAST_CONNECTION_CHANGE,
    AtariMissed,
    Captured,
    Connected,
    Doubtful,
    Fact,
    Filled,
    FilledKind,
    GroupChanged,
    Ladder,
    LadderKind,
    PassedTooEarly,
    RegionChanged,
    Sente,
)
from gtp_engine.study.reasons.variation import Study, cell_of
from gtp_engine.study.record_searches import RecordSearches
from gtp_engine.study.review import MoveReview, review_moves
from gtp_engine.study.second_look import look_again

# Half of the changes of ownership without which captures and connections are not told.
_LEAST_CAPTURED, _LEAST_CONNECTED = LEAST_CAPTURE_CHANGE / 2, LEAST_CONNECTION_CHANGE / 2


def main() -> None:
    options = parse_arguments()
    network = network_or_default(options.network, 19)
    own, judge = (make_evaluator(name, threads=1, seed=options.seed) for name in (network, options.judge))
    visits = options.visits
    explainer = Explainer(own, default_parameters(network), Limits(visits), options.seed)
    judge_limits = Limits(visits * options.times // LINE_FACTOR)  # the explainer multiplies them
    examiner = Explainer(judge, default_parameters(options.judge), judge_limits, options.seed)
    tally = Tally()
    began = time.monotonic()
    try:
        for name, record, move in mistakes_of(options, own, network):
            examine(name, record.to_game(move.number - 1), move, (explainer, examiner), tally)
            if tally.mistakes == options.mistakes:
                break
    except KeyboardInterrupt:
        print("stopped")
    tally.show(time.monotonic() - began)


def examine(name: str, game: Game, move: MoveReview, explainers: tuple[Explainer, Explainer], tally: "Tally") -> None:
    """Explains a mistake, and has the judge check what is told.

    Args:
        name: The game.
        game: The position before the move.
        move: The move.
        explainers: The review's, and the judge's.
        tally: Gets the result.
    """
    explainer, examiner = explainers
    study, judged = (each.study(game, move.move.colour, move.move.point, move.best) for each in explainers)
    if study is None or judged is None:
        return
    facts = explainer.facts(study, move.points_loss)
    if any(isinstance(fact, Sente) for fact in facts):
        judged = examiner.with_threats(judged)
    sentences = [(fact, reason_of(study, fact).text) for fact in facts]
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


def mistakes_of(
    options: argparse.Namespace, evaluator: Evaluator, network: str
) -> Iterator[tuple[str, GameRecord, MoveReview]]:
    """Yields the most costly mistakes of the games, with the name of the game."""
    records = list(records_of(options.records, options.member))
    random.Random(options.seed).shuffle(records)
    for name, record in records[options.skip :]:
        limits = Limits(options.visits)
        searches = RecordSearches(record, evaluator, default_parameters(network), limits, options.seed)
        try:
            moves = tuple(review_moves(searches))
        except SgfError as error:  # an illegal move
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        *_, moves = moves, *look_again(searches, moves)
        checked = (mistake.worst for mistake in find_mistakes(moves) if mistake.worst.is_checked)
        worst = [move for move in checked if move.points_loss > options.least]
        for move in worst[: options.each]:
            yield name, record, move


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
        is_doubted = any(isinstance(fact, Doubtful) for fact, _ in facts)
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
            kind, right = type(fact).__name__, holds(fact, judged)
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
    match fact:
        case GroupChanged():
            sign = 1 if fact.colour == judged.colour else -1
            if max(fact.better, fact.played) >= ALIVE and min(fact.better, fact.played) <= DEAD:
                return better.owned(fact.points) > 0 > played.owned(fact.points)
            return change / 2 >= sign * (fact.better - fact.played) / 2
        case Captured(is_played=False) | Ladder(kind=LadderKind.CATCHES):
            return change >= _LEAST_CAPTURED and better.owned(fact.points) > 0
        case Captured() | AtariMissed() | Ladder(kind=LadderKind.CAUGHT):
            return change >= _LEAST_CAPTURED and played.owned(fact.points) < 0
        case Ladder():
            return played.owned(fact.points) < 0
        case Connected():
            return change >= _LEAST_CONNECTED
        case Filled():
            owned = better.ownership[cell_of(judged.move, judged.game.width)]
            return bool({FilledKind.OWN: owned > 0.5, FilledKind.OTHERS: owned < -0.5}.get(fact.kind, abs(owned) < 0.5))
        case RegionChanged():
            return change * len(fact.points) >= fact.gain / 2
        case Sente():
            gain, less = better.gain_if_ignored or 0.0, played.gain_if_ignored or 0.0
            return gain >= fact.better / 2 and gain > less
        case PassedTooEarly():
            return judged.points_loss >= fact.lost / 2
    raise TypeError(f"no check for {fact!r}")


if __name__ == "__main__":
    main()
