"""How many mistakes get a reason, and how many of these sentences a stronger network confirms.

    python benchmarks/reason_accuracy.py ranks.zip small9.zip:aeb-pro dan19.zip:kgs6d --judge kata1-b18c384nbt
        [--sentences 100] [--visits 100] [--judge-visits 1000] [--judge-precision auto] [--each 5] [--seed 1]
        [--keep FOLDER] [--show]

Each archive, with the beginning of its members' names after a colon, is a group of games. Games are reviewed in an
order that depends on the seed alone, and some of the mistakes that the review explains are taken by chance. The judge
searches the positions after the move played, after the better one, and after others that are said to lose points, and
sees whether each stated fact holds: who owns the stones or the points, with 0.2 (of -1 to 1) more doubt than the review
itself allows, or at least half of the change. What is proved by the rules or by the solver is not checked again.

The group with the fewest sentences is always the next, until each has enough. Mistakes and the judge's searches are
kept in a folder for these networks, visits, precision, seed and number of mistakes: run the same command to resume
after Ctrl-C. They stay valid when the sentences have changed, but not when the first two searches of a review have: use
another `--keep` then. `--show`, with the same options, judges what is kept, beside a run or without searching.

Shows every sentence with the verdict, then, for each group, the share of sentences that fail, and of the mistakes that
cost 5 points or more the shares with a reason and with one that names stones: a capture, life and death, a race, a cut,
a ladder; all with 95 % intervals.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from common import network_or_default, share
from judged_mistakes import Case, Group, packed, unpacked
from kept_results import WORK, digest_of_options

from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.factory import make_evaluator
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits
from gtp_engine.study.reasons.explain import LINE_FACTOR, facts_about, seen_deeper, study_of, with_threats
from gtp_engine.study.reasons.facts import REGIONS, as_seen_by
from gtp_engine.study.reasons.tempting import LEAST_TEMPTING_LOSS, find_tempting
from gtp_engine.study.reasons.variation import LEAST_TOLD, Fact, Study, play_line
from gtp_engine.study.searches import SECOND_LOOK_FACTOR, Searches

_LEAST_SHARE = 0.5  # of what is stated, or of what the review demands for it
_COSTLY = 5.0  # points
# Names of facts that do not name stones.
_POINTS = {"passed", "own", "others", "dame", "sente", "also", *REGIONS}
_POINTS |= {
    f"ko{kind}" for kind in ("Taken", "Ended", "ThreatMade", "TakenInstead", "EndedInstead", "Ignored", "Threat")
}

Told = list[tuple[Fact, str]]  # facts with their sentences


class Judgement(NamedTuple):
    """What the judge has found about a mistake.

    Attributes:
        study: The two moves.
        others: The player's lead after other moves, by their points.
    """

    study: Study
    others: Mapping[int, float]


def main() -> None:
    options = parse_arguments()
    groups = [Group(name, kept_in(options), options.seed) for name in options.groups]
    tallies = {group.name: Tally() for group in groups}
    searches = own_searches(options)
    judge = None if options.show else judging(options)
    streams = {
        group.name: judged_cases(group.cases(options.each, searches if judge else None), searches, judge)
        for group in groups
    }
    try:
        while streams:
            name = min(streams, key=lambda name: tallies[name].told.total())
            found = next(streams[name], None)
            if found is None:
                del streams[name]
                continue
            tallies[name].add(*found)
            if tallies[name].told.total() >= options.sentences:
                del streams[name]
    except KeyboardInterrupt:
        print("stopped")
    for name, tally in tallies.items():
        tally.show(name)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+", metavar="ARCHIVE[:MEMBER]", help="zip archives with one SGF a line")
    parser.add_argument("--judge", required=True, help="the stronger network, a file or a name")
    parser.add_argument("--network", help="of the review, a file or a name (default: the bundled one for the board)")
    parser.add_argument("--sentences", type=int, default=100, help="to judge in each group (default: 100)")
    parser.add_argument("--visits", type=int, default=100, help="of each search of the review (default: 100)")
    parser.add_argument("--judge-visits", type=int, default=1000, help="of each search of the judge (default: 1000)")
    parser.add_argument("--judge-precision", default="auto", help="of the judge's network (default: auto)")
    parser.add_argument("--each", type=int, default=5, help="mistakes of one game (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="of the order and of the searches (default: 1)")
    parser.add_argument("--keep", type=Path, default=WORK / "reasons", help="folder of what is kept")
    parser.add_argument("--show", action="store_true", help="judge only what is kept, and search nothing for it")
    return parser.parse_args()


def kept_in(options: argparse.Namespace) -> Path:
    """Returns the folder of what is found with these options, so that no run takes what another one has found."""
    own = (options.network or "", options.visits, options.each, options.seed)
    judge = (options.judge, options.judge_visits, options.judge_precision)
    return Path(options.keep) / digest_of_options(*own, *judge)


def own_searches(options: argparse.Namespace) -> Callable[[int], Searches]:
    """Returns what returns how a review searches a board of a size."""

    @cache
    def made(network: str) -> Searches:
        evaluator = make_evaluator(network, threads=1, seed=options.seed)
        return Searches(evaluator, default_parameters(network), Limits(options.visits), options.seed)

    def searches(size: int) -> Searches:
        found = made(network_or_default(options.network, size))
        found.evaluator.clear_cache()  # as a review begins
        return found

    return searches


def judging(options: argparse.Namespace) -> Searches:
    """Returns how the judge searches; studies multiply its visits by `LINE_FACTOR`."""
    judge = make_evaluator(options.judge, threads=1, seed=options.seed, precision=options.judge_precision)
    limits = Limits(options.judge_visits // LINE_FACTOR)
    return Searches(judge, default_parameters(options.judge), limits, options.seed)


def judged_cases(
    cases: Iterator[tuple[str, Game, Case, Callable[[], None]]],
    searches: Callable[[int], Searches],
    judge: Searches | None,
) -> Iterator[tuple[str, Told, Judgement | None, float]]:
    """Yields mistakes with what is told about them, what the judge found if anything is, and the points that they cost.

    Args:
        cases: The mistakes.
        searches: Returns how a review searches a board of a size.
        judge: How the judge searches; None to take only what it has searched before.
    """
    for name, game, case, keep in cases:
        own = searches(max(game.width, game.height))
        studies = own_studies(game, case, own)
        first, second = studies
        sceptical = min(studies, key=lambda study: study.points_loss)
        told: Told = []
        if min(first.points_loss, second.points_loss) >= LEAST_TOLD:
            facts = [as_seen_by(sceptical, fact) for fact in facts_about(own, studies)]
            facts += find_tempting(own, second_look(game, case, own), first, seen_deeper) if facts else ()
            told = [(fact, first.reason(fact).text) for fact in facts]
        judged = judgement(game, case, judge, [fact for fact, _ in told]) if told else None
        if judge is not None:
            keep()
        if judged is not None or not told:
            yield name, told, judged, first.points_loss


def own_studies(game: Game, case: Case, searches: Searches) -> tuple[Study, Study]:
    """Returns the two studies from which a review tells the reasons; searches for the second if it is not kept."""
    first = unpacked(game, case.colour, case.first)
    if LINE_FACTOR not in case.deeper:
        found = seen_deeper(searches, first)
        assert found is not None  # nobody stops it
        case.deeper[LINE_FACTOR] = packed(found)
    return first, unpacked(game, case.colour, case.deeper[LINE_FACTOR])


def second_look(game: Game, case: Case, searches: Searches) -> SearchReport:
    """Returns the second look at the position before a mistake; searches for it if it is not kept."""
    if case.before is None:
        (case.before,) = searches.times(SECOND_LOOK_FACTOR).reports([game.copy()])
    return case.before


def judgement(game: Game, case: Case, judge: Searches | None, facts: Sequence[Fact]) -> Judgement | None:
    """Returns what the judge finds about the moves that some facts name; None if it is not kept."""
    study = study_by_judge(game, case, judge, any(fact.name == "sente" for fact in facts))
    points = [fact.line[0] for fact in facts if fact.name == "also"]
    case.others = case.others or {}
    for point in points:
        if judge is not None and point not in case.others:
            judge.evaluator.clear_cache()
            (report,) = judge.times(LINE_FACTOR).reports([play_line(game, case.colour, (point,))[-1]])
            case.others[point] = -report.lead
    return Judgement(study, case.others) if study is not None and case.others.keys() >= {*points} else None


def study_by_judge(game: Game, case: Case, judge: Searches | None, is_sente: bool) -> Study | None:
    """Returns the judge's study of a mistake, with what the moves threaten if a sentence says it; None if not kept."""
    judged = None if case.judged is None else unpacked(game, case.colour, case.judged)
    if judge is not None and judged is None:
        judge.evaluator.clear_cache()
        judged = study_of(judge, game, case.colour, case.played, case.best)
    if judge is not None and judged is not None and is_sente and judged.better.gain_if_ignored is None:
        judged = with_threats(judge, judged)
    if judged is None or (is_sente and judged.better.gain_if_ignored is None):
        return None
    case.judged = packed(judged)
    return judged


class Tally:
    """Counts mistakes with and without reasons, and sentences that hold or fail."""

    def __init__(self) -> None:
        self.mistakes = self.costly = self.explained = self.named = 0
        self.told: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, name: str, told: Told, judged: Judgement | None, loss: float) -> None:
        """Checks the facts about a mistake, and prints them.

        Args:
            name: The game and the move.
            told: What is told.
            judged: What the judge found; None if nothing is told.
            loss: The points that it costs.
        """
        self.mistakes += 1
        by_judge = f", {judged.study.points_loss:.1f} by the judge" if judged else ""
        print(f"{name}: {loss:.1f} points lost{by_judge}", flush=True)
        if loss >= _COSTLY:
            self.costly += 1
            self.explained += bool(told)
            self.named += any(fact.name not in _POINTS for fact, _ in told)
        for fact, text in told:
            assert judged is not None
            right = holds(fact, judged)
            self.told[fact.name] += 1
            self.failed[fact.name] += not right
            print(f"  {'holds' if right else 'FAILS'}: {text}", flush=True)

    def show(self, group: str) -> None:
        """Prints the shares."""
        total, failed = self.told.total(), self.failed.total()
        print(f"\n{group}: {self.mistakes} mistakes")
        print(f"that cost {_COSTLY:g} points or more, with a reason: {share(self.explained, self.costly)}")
        print(f"with one that names stones: {share(self.named, self.costly)}")
        print(f"sentences: {total}, that fail: {share(failed, total)}")
        for kind, count in self.told.most_common():
            print(f"  {kind}: {count}, that fail: {share(self.failed[kind], count)}")


def holds(fact: Fact, judged: Judgement) -> bool:
    """Returns whether a fact holds by what the judge has found about the same moves."""
    study, others = judged
    if fact.name == "also":
        return study.better.lead - others[fact.line[0]] >= _LEAST_SHARE * LEAST_TEMPTING_LOSS
    if fact.name in ("passed", "sente"):
        stated = fact.values["count"]
        assert isinstance(stated, int)
        gain, less = study.better.gain_if_ignored or 0.0, study.played.gain_if_ignored or 0.0
        found = study.points_loss if fact.name == "passed" else gain if gain > less else 0.0
        return found >= _LEAST_SHARE * stated
    # What is lost elsewhere is not stated, except for a point that is the bigger one.
    kept = 0.0 if fact.name == "point" else None
    claim = fact.claim and fact.claim._replace(gain=None, kept=kept, loss=None)
    return claim is None or claim.holds(study, _LEAST_SHARE)


if __name__ == "__main__":
    main()
