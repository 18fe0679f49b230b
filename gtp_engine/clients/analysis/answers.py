"""Search reports as answers of KataGo's JSON analysis protocol (its docs/Analysis_Engine.md)."""

import hashlib
from typing import Any

import numpy as np

from ...go.coords import PASS, colour_letter, opponent, xy
from ...go.game import Game
from ...go.symmetry import COUNT, TRANSPOSE, apply
from ...search.evaluate.row import EvaluationRow
from ...search.report import MoveReport, SearchReport
from .query import Query

_DIGITS = 9
_OWNERSHIP_DIGITS = 4
_KO = 4  # a mark in addition to EMPTY, BLACK and WHITE


def no_results(query_id: str, turn: int) -> dict[str, Any]:
    """Returns the answer about a position that was not searched at all."""
    return {"id": query_id, "isDuringSearch": False, "noResults": True, "turnNumber": turn}


def answer(
    query: Query, turn: int, game: Game, report: SearchReport, *, during: bool, humans: np.ndarray | None = None
) -> dict[str, Any]:
    """Returns the answer about one position; with `during`, more answers about it will follow.

    `humans` is the policy of the human model, float32 [area + 1] in move-index order, if it is asked for.
    """
    perspective, root = _Perspective(query, report), report.root_evaluation
    fields = {
        "id": query.id,
        "isDuringSearch": during,
        "moveInfos": [perspective.move(move) for move in report.moves],
        "rootInfo": perspective.root(game),
        "turnNumber": turn,
    }
    if "includeOwnership" in query.wanted and report.ownership is not None:
        fields["ownership"] = perspective.ownership(report.ownership)
    if "includeOwnershipStdev" in query.wanted:
        fields["ownershipStdev"] = np.round(report.ownership_spread().ravel(), _OWNERSHIP_DIGITS).tolist()
    if "includePolicy" in query.wanted and root is not None:
        fields["policy"] = _policy(game, root.policy)
    if humans is not None:
        fields["humanPolicy"] = _policy(game, humans)
    return fields


def _policy(game: Game, policy: np.ndarray) -> list[float]:
    """Returns a policy as KataGo writes it, with -1 for illegal moves."""
    legal = np.where(game.legal_moves(), policy.astype(np.float64), -1.0)
    return [round(prior, _DIGITS) for prior in legal.tolist()]


class _Perspective:
    """Values of a report, which are for the side to move, from the perspective that the query asks for."""

    def __init__(self, query: Query, report: SearchReport) -> None:
        self.query = query
        self.report = report
        self.is_opposite = query.settings.perspective == opponent(report.to_move)

    def winrate(self, value: float) -> float:
        return round(1 - value if self.is_opposite else value, _DIGITS)

    def points(self, value: float) -> float:
        """Returns a value whose sign depends on the side: points or utility."""
        return round(-value if self.is_opposite else value, _DIGITS)

    def ownership(self, values: np.ndarray) -> list[float]:
        signed = -values if self.is_opposite else values
        return [float(value) for value in np.round(signed.ravel().astype(np.float64), _OWNERSHIP_DIGITS).tolist()]

    def move(self, move: MoveReport) -> dict[str, Any]:
        length = self.query.settings.pv_length + 1  # KataGo counts the moves after the first
        visits = list(move.pv_visits[:length])
        # KataGo raises the selection value of the move with the best lower bound to the largest one.
        is_best = move.searched_point == self.report.moves[0].point
        selection = max(other.selection for other in self.report.moves) if is_best else move.selection
        fields = {
            "move": self.report.vertex(move.point),
            "visits": move.visits,
            # Visits are those through the move: with graph search the position itself may have more.
            "edgeVisits": move.visits,
            "utility": self.points(move.utility),
            "winrate": self.winrate(move.winrate),
            "scoreMean": self.points(move.lead),  # KataGo's former name of the lead, as in its own answers
            "scoreStdev": round(move.score_stdev, _DIGITS),
            "scoreLead": self.points(move.lead),
            "scoreSelfplay": self.points(move.score_mean),
            "prior": round(move.prior, _DIGITS),
            "lcb": self.winrate(move.lcb),
            "utilityLcb": self.points(move.utility_lcb),
            "weight": move.weight,
            "edgeWeight": move.weight,
            "order": move.order,
            "playSelectionValue": selection,
            "pv": [self.report.vertex(point) for point in move.pv[:length]],
        }
        if move.symmetry_of is not None:
            fields["isSymmetryOf"] = self.report.vertex(move.symmetry_of)
        if "includePVVisits" in self.query.wanted:
            fields |= {"pvVisits": visits, "pvEdgeVisits": visits}
        if "includeNoResultValue" in self.query.wanted:
            fields["noResultValue"] = 0.0  # the tree does not keep it
        if "includeMovesOwnership" in self.query.wanted and move.ownership is not None:
            fields["ownership"] = self.ownership(move.ownership)
        return fields

    def root(self, game: Game) -> dict[str, Any]:
        report, root = self.report, self.report.root_evaluation
        return {
            "currentPlayer": colour_letter(report.to_move),
            "visits": report.visits,
            "utility": self.points(report.utility),
            "winrate": self.winrate(report.winrate),
            "scoreLead": self.points(report.lead),
            "scoreSelfplay": self.points(report.score_mean),
            "scoreStdev": round(report.score_stdev, _DIGITS),
            "weight": report.weight,
            **(self._raw(root) if root is not None else {}),
            **_hashes(game),
        }

    def _raw(self, root: EvaluationRow) -> dict[str, float]:
        no_result = float(root.value[2])
        value_error, score_error, time_left = root.short_term_errors.tolist()
        return {
            "rawWinrate": self.winrate(root.winrate),
            "rawLead": self.points(root.lead),
            "rawScoreSelfplay": self.points(root.score_mean),
            "rawScoreSelfplayStdev": round(root.score_stdev, _DIGITS),
            "rawNoResultProb": round(no_result, _DIGITS),
            "rawStWrError": round(value_error / 2, _DIGITS),  # win minus loss spans twice the range
            "rawStScoreError": round(score_error, _DIGITS),
            "rawVarTimeLeft": round(time_left, _DIGITS),
        }


def _hashes(game: Game) -> dict[str, str]:
    """Returns a hash of stones, player to move and ko, and one that is the same for all symmetries of the board."""
    marks = game.stones()
    ko_point = int(game.board["ko_point"][0])
    if ko_point != PASS:
        x, y = xy(ko_point, game.width)
        marks[y, x] = _KO
    # A rectangular board that is not square has no transposed form.
    symmetries = range(COUNT) if game.width == game.height else range(TRANSPOSE)
    turned = [apply(marks, symmetry) for symmetry in symmetries]
    texts = [bytes((*each.shape, game.to_move)) + each.tobytes() for each in turned]
    hashes = [hashlib.blake2b(text, digest_size=16).hexdigest().upper() for text in texts]
    return {"thisHash": hashes[0], "symHash": min(hashes)}
