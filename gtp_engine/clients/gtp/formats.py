"""Analysis as text: the lines of `lz-analyze` and `kata-analyze`, and the JSON that CGOS stores.

All values are from the view of the side to move at the root, the colour that the command names. Floats are in fixed
notation and always have a decimal point, by which Sabaki up to 0.52 distinguishes KataGo's form from Leela Zero's.
"""

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...go.coords import point_of_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...search.report import MoveReport, SearchReport

_NOT_EVALUATED = -1.0  # KataGo prints the same for errors that a network does not predict
# The CGOS client encodes an ownership of -1 to 1 in 63 steps.
_CGOS_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+"
# Parts of a line that KataGo has only if they are asked for, by its names. `movesOwnershipStdev` is accepted and left
# out: the tree keeps no spread for each move.
OPTIONAL = (
    *("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev"),
    *("pvVisits", "pvEdgeVisits", "rootInfo", "noResultValue"),
)


@dataclass(frozen=True)
class Fields:
    """What a line contains: which `OPTIONAL` parts, and the least and the most moves, including unvisited ones."""

    wanted: frozenset[str] = frozenset()
    least_moves: int = 0
    most_moves: int | None = None


def decimal(value: float, digits: int = 6) -> str:
    """Returns a float in fixed notation without trailing zeros: 0.5, 1.0, -12.25."""
    text = f"{value:.{digits}f}".rstrip("0")
    text = text + "0" if text.endswith(".") else text
    return "0.0" if text == "-0.0" else text


# Indexed by -1000 to 1000: Python counts negative indices from the end.
_THOUSANDTHS = [decimal(number / 1000, 3) for number in (*range(1001), *range(-1000, 0))]


def lz_line(report: "SearchReport", fields: Fields) -> str:
    """Returns a line in Leela Zero's form, win rates and priors in ten-thousandths; empty before the first visit."""

    def parts(value: float) -> int:
        return min(max(round(value * 10000), 0), 10000)

    return " ".join(
        f"info move {report.vertex(move.point)} visits {move.visits}"
        f" winrate {parts(move.winrate)} prior {parts(move.prior)} lcb {parts(move.lcb)} order {move.order}"
        f" pv {_variation(report, move)}"
        for move in report.moves[: fields.most_moves]
    )


def _variation(report: "SearchReport", move: "MoveReport") -> str:
    # Sabaki drops a move whose variation is empty.
    return " ".join(report.vertex(point) for point in move.pv or (move.point,))


def kata_line(report: "SearchReport", fields: Fields) -> str:
    """Returns a line in KataGo's form; empty before the first visit."""
    if not report.moves:
        return ""
    words = [_kata_move(report, move, fields.wanted) for move in report.moves[: fields.most_moves]]
    if "rootInfo" in fields.wanted:
        words.append(_root_info(report))
    if "ownership" in fields.wanted and report.ownership is not None:
        words.append("ownership " + grid(report.ownership))
    if "ownershipStdev" in fields.wanted and report.ownership is not None:
        words.append("ownershipStdev " + grid(report.ownership_spread()))
    return " ".join(words)


def _kata_move(report: "SearchReport", move: "MoveReport", wanted: frozenset[str]) -> str:
    visits = " ".join(str(count) for count in move.pv_visits or (move.visits,))
    words = [
        f"info move {report.vertex(move.point)} visits {move.visits} edgeVisits {move.visits}",
        f"utility {decimal(move.utility)} winrate {decimal(move.winrate)} scoreMean {decimal(move.lead)}",
        f"scoreStdev {decimal(move.score_stdev)} scoreLead {decimal(move.lead)}",
        f"scoreSelfplay {decimal(move.score_mean)} prior {decimal(move.prior)} lcb {decimal(move.lcb)}",
        f"utilityLcb {decimal(move.utility_lcb)} weight {decimal(move.weight)}",
        "noResultValue 0.0" if "noResultValue" in wanted else "",
        "" if move.symmetry_of is None else f"isSymmetryOf {report.vertex(move.symmetry_of)}",
        f"order {move.order} pv {_variation(report, move)}",
        f"pvVisits {visits}" if "pvVisits" in wanted else "",
        # Visits are those through the move: with graph search the position itself may have more.
        f"pvEdgeVisits {visits}" if "pvEdgeVisits" in wanted else "",
        f"movesOwnership {grid(move.ownership)}" if "movesOwnership" in wanted and move.ownership is not None else "",
    ]
    return " ".join(word for word in words if word)


def _root_info(report: "SearchReport") -> str:
    root = report.root_evaluation
    # How sure the evaluator is of the root; -1 if it was in the tree already. KataGo's JSON protocol has half of
    # rawStWrError, the error of the win rate; here, as in its GTP, it is that of win minus loss.
    value, score, time_left = (_NOT_EVALUATED,) * 3 if root is None else root.short_term_errors.tolist()
    return (
        f"rootInfo visits {report.visits} utility {decimal(report.utility)} winrate {decimal(report.winrate)}"
        f" scoreMean {decimal(report.lead)} scoreStdev {decimal(report.score_stdev)} scoreLead {decimal(report.lead)}"
        f" scoreSelfplay {decimal(report.score_mean)} weight {decimal(report.weight)}"
        f" rawStWrError {decimal(value)} rawStScoreError {decimal(score)} rawVarTimeLeft {decimal(time_left)}"
    )


def grid(values: "NDArray[np.floating[Any]]") -> str:
    """Returns values from -1 to 1 with three digits each, row by row from the top left."""
    # A line with the ownership of every move contains 100,000 values: a table takes a tenth of the time of formatting.
    thousandths = (values.ravel() * 1000).round().clip(-1000, 1000).astype(int)
    return " ".join([_THOUSANDTHS[number] for number in thousandths.tolist()])


def cgos_line(report: "SearchReport") -> str:
    """Returns the JSON object that CGOS stores with a move, as its client makes it from KataGo's lines."""
    info: dict[str, Any] = {
        "moves": [_cgos_move(report, move) for move in report.moves if move.visits > 0],
        "visits": report.visits,
        "winrate": round(report.winrate, 4),
        "score": round(report.lead, 2),
    }
    if report.ownership is not None:
        places = ((report.ownership.ravel() + 1) / 2).clip(0, 1) * 62
        info["ownership"] = "".join(_CGOS_DIGITS[round(place)] for place in places.tolist())
    return json.dumps(info, separators=(",", ":"))


def _cgos_move(report: "SearchReport", move: "MoveReport") -> dict[str, Any]:
    values = {
        "move": report.vertex(move.point),
        "visits": move.visits,
        "winrate": round(move.winrate, 4),
        "score": round(move.lead, 2),
        "prior": round(move.prior, 4),
    }
    rest = " ".join(report.vertex(point) for point in move.pv[1:])
    return values | ({"pv": rest} if rest else {})


def with_unvisited(report: "SearchReport", least: int) -> "SearchReport":
    """Returns a report with moves; unvisited ones are added by descending prior, so that it has `least` if possible.

    The added moves have no visits and the root's values.
    """
    if len(report.moves) >= least:
        return report
    known = {move.point for move in report.moves}
    order = (-report.priors).argsort(kind="stable").tolist()
    indices = {point_of_index(index, report.width, report.height): index for index in order if report.priors[index] > 0}
    added = [point for point in indices if point not in known][: least - len(known)]
    values = {name: getattr(report, name) for name in ("winrate", "lead", "score_mean", "score_stdev", "utility")}
    values |= {"lcb": report.winrate, "utility_lcb": report.utility, "visits": 0, "weight": 0.0, "ownership": None}
    moves = [
        report.moves[0]._replace(
            **values, point=point, prior=float(report.priors[indices[point]]), order=number, pv=(point,), pv_visits=(0,)
        )
        for number, point in enumerate(added, len(known))
    ]
    return replace(report, moves=(*report.moves, *moves))
