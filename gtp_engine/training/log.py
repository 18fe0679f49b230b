"""The log of a run: its Elo, and what it shows: a table and a sentence about what was reached."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..arena.elo import Tally, elo_interval, finite_elo, wilson_interval
from ..base.messages import duration_text, plural
from .run_folder import RunFolder
from .run_settings import RunSettings
from .storage import shard_facts, total

_RECENT = 5  # cycles whose durations are averaged; matches are played in some of them only
_LOSSES = ("policy", "value", "score", "ownership")
_DISTANCES = ("policy", "winrate", "lead", "ownership")
# What is shown of a line of the log: the title, the field, and how it is written. A run has what its source has.
# Measurements on games that the network has not learned: those held back, or those of a cycle before it is learned.
_MEASURED = (
    *((f"unseen {name}", f"validation.{name}", "{:.3f}") for name in _LOSSES),
    ("top 1", "validation.top1", "{:.1%}"),
    ("top 5", "validation.top5", "{:.1%}"),
    ("winner", "validation.winner", "{:.1%}"),
)
_COLUMNS = (
    ("cycle", "cycle", "{}"),
    ("games", "games_in_all", "{:,}"),
    ("moves/game", "length", "{:.0f}"),
    ("samples", "samples", "{:,}"),
    *((name, f"losses.{name}", "{:.3f}") for name in _LOSSES),
    *_MEASURED,
    *((f"off the teacher's {name}", f"validation.off_{name}", "{:.3f}") for name in _DISTANCES),
    ("Elo", "elo", "{:+.0f}"),
    ("at least", "elo_low", "{:+.0f}"),
    ("at most", "elo_high", "{:+.0f}"),
    ("evals/s", "evaluations_per_s", "{:,.0f}"),
    ("samples/s", "rate", "{:,.0f}"),
    ("hours", "hours", "{:.2f}"),
)
# The report has room for more.
_REPORTED = (
    ("target entropy", "validation.target_entropy", "{:.3f}"),
    ("policy entropy", "validation.policy_entropy", "{:.3f}"),
    ("calibration error", "validation.calibration_error", "{:.1%}"),
    ("Black wins", "black_wins", "{:.0%}"),
    ("window", "window", "{:,}"),
    ("won", "score", "{:.0%}"),
    ("against", "against", "{}"),
    ("seconds", "cycle_seconds", "{:.0f}"),
)
# What the sentence says of a measurement on held-back games: the field, its title, and how it is written.
_HELD_BACK = (
    ("top1", "first choice right", ".1%"),
    ("winner", "winner right", ".1%"),
    ("policy", "policy loss", ".3f"),
)


def value_of(line: Mapping[str, Any], name: str) -> Any:
    """Returns a value of a line of the log, None if it has none; "losses.policy" is `policy` in the table `losses`."""
    value: Any = line
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _columns(report: bool) -> tuple[tuple[str, str, str], ...]:
    return _COLUMNS + _REPORTED if report else _COLUMNS


def cells(line: Mapping[str, Any], *, report: bool = False) -> dict[str, str]:
    """Returns what is shown of a line of the log, by title; nothing for values that it lacks.

    A terminal has no room for both Elo and measurements: of a cycle only the report shows the latter.
    """
    line = {**line, "hours": line["seconds"] / 3600}
    hidden = _MEASURED if "cycle" in line and not report else ()
    columns = [column for column in _columns(report) if column not in hidden]
    values = {title: (value_of(line, name), form) for title, name, form in columns}
    return {title: form.format(value) for title, (value, form) in values.items() if value is not None}


def log_table(lines: Sequence[Mapping[str, Any]], *, report: bool = False) -> tuple[list[str], list[list[str]]]:
    """Returns the titles of the columns that are not empty, and the rows."""
    rows = [cells(line, report=report) for line in lines]
    titles = [title for title, _, _ in _columns(report) if any(title in row for row in rows)]
    return titles, [[row.get(title, "") for title in titles] for row in rows]


def cycles_left(lines: Sequence[Mapping[str, Any]], cycles: int) -> str:
    """Returns a sentence about how long the cycles that are left take, by the last ones; "" if that is not known."""
    recent = [line["cycle_seconds"] for line in lines if line.get("cycle_seconds")][-_RECENT:]
    left = cycles - last_cycle(lines)
    if not recent or left < 1:
        return ""
    mean = sum(recent) / len(recent)
    those = "the last one" if left == 1 else f"the {left} to come"
    return f"a cycle takes about {duration_text(mean)} here, {those} about {duration_text(left * mean)}"


def last_cycle(lines: Sequence[Mapping[str, Any]]) -> int:
    """Returns the last cycle that is finished, 0 for none."""
    return max((line["cycle"] for line in lines), default=0)


def summary(folder: RunFolder) -> str:
    """Describes the results and the state of a run, which may be under way; UserError for invalid settings."""
    settings, lines = folder.settings(), folder.log()
    if settings.command == "learn":
        return _of_records(settings, lines)
    cycle, of_run = last_cycle(lines) + 1, settings.cycle
    if cycle > of_run.cycles:
        return f"{_of_cycles(lines)}all cycles are finished"
    if not folder.network(0).exists():
        return f"{_of_cycles(lines)}the first network is being made, then cycle 1 of {of_run.cycles}"
    games = total(shard_facts(folder.shards, cycle).values()).games
    saved = f"{games:,} of {plural(of_run.games, 'game')}" if games < of_run.games else f"its {plural(games, 'game')}"
    return f"{_of_cycles(lines)}cycle {cycle} of {of_run.cycles} is under way, with {saved} saved"


def _of_cycles(lines: Sequence[Mapping[str, Any]]) -> str:
    if not lines:
        return "no cycle is finished; "
    last = lines[-1]
    done = plural(len(lines), "cycle"), plural(last["games_in_all"], "game"), plural(last["samples"], "sample")
    text = ", ".join((*done, duration_text(last["seconds"])))
    rated = [line for line in lines if "elo" in line]
    return f"{text}: {_strength(rated)}; " if rated else f"{text}; its strength is not measured yet; "


def _strength(rated: Sequence[Mapping[str, Any]]) -> str:
    """Describes the last Elo, and what the last match says about the progress."""
    last = rated[-1]
    text = f"network {last['cycle']} has {last['elo']:+,.0f} Elo over network 0"
    lowest, highest = last.get("elo_low", -math.inf), last.get("elo_high", math.inf)
    text += f" (95% interval {lowest:+,.0f} to {highest:+,.0f})"
    if lowest <= 0 <= highest:
        return f"{text}, which may be chance"
    low, high = wilson_interval(last["score"], last["match_games"])
    if len(rated) < 2:
        return text
    if low <= 0.5 <= high:
        return f"{text}; its {last['match_games']} games with network {last['against']} show no clear difference"
    return f"{text}, and is {'stronger' if low > 0.5 else 'weaker'} than network {last['against']}"


def _of_records(settings: RunSettings, lines: Sequence[Mapping[str, Any]]) -> str:
    measured = [line for line in lines if line.get("validation")]
    if not measured:
        return "nothing is learned yet"
    first, last = measured[0], measured[-1]
    wanted = settings.learn.samples
    share = f" of {wanted:,} ({last['samples'] / wanted:.0%})" if wanted else ""
    head = f"{last['samples']:,}{share} samples learned in {duration_text(last['seconds'])}"
    parts = []
    for name, title, form in _HELD_BACK:
        now, before = value_of(last, f"validation.{name}"), value_of(first, f"validation.{name}")
        if now is not None:
            parts.append(f"{title} {now:{form}}" + (f" ({before:{form}} at first)" if last is not first else ""))
    return f"{head}: on held-back games {', '.join(parts)}" if parts else f"{head}; no game was held back to measure it"


def elo_fields(lines: Sequence[Mapping[str, Any]], against: int, tally: Tally) -> dict[str, Any]:
    """Returns the log's fields about a match against an earlier network.

    The first network has Elo 0, any other one that of its opponent plus the difference in their match (`finite_elo`).
    The interval (95 %) grows from match to match: errors of independent differences add up as their squares. A match in
    which one side won all games gives it only one end, and the other field is missing, as in all lines that build on
    this one. `lines` are those of the log so far, `against` is the cycle of the opponent.
    """
    first = {"elo": 0.0, "elo_low": 0.0, "elo_high": 0.0}
    before = next((line for line in lines if line["cycle"] == against and "elo" in line), first)
    base, gain = before["elo"], finite_elo(tally)
    low, high = elo_interval(tally)
    below = math.hypot(gain - low, base - before.get("elo_low", -math.inf))
    above = math.hypot(high - gain, before.get("elo_high", math.inf) - base)
    found = {"elo": base + gain, "elo_low": base + gain - below, "elo_high": base + gain + above}
    facts = {"against": against, "score": round(tally.score, 3), "match_games": tally.games}
    return facts | {name: round(elo, 1) for name, elo in found.items() if math.isfinite(elo)}
