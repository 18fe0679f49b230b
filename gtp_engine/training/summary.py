"""What a run has reached, in a sentence: the line at the end of each piece, and the head of its report."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..arena.elo import wilson_interval
from .log_table import value_of
from .pace import duration_text
from .run_folder import RunFolder
from .run_settings import RunSettings
from .storage import shard_facts, total

# What the sentence says of a measurement on held-back games: the field, its title, and how it is written.
_HELD_BACK = (
    ("top1", "first choice right", ".1%"),
    ("winner", "winner right", ".1%"),
    ("policy", "policy loss", ".3f"),
)


def summary(folder: RunFolder) -> str:
    """Describes the results and the state of a run, which may be under way.

    Raises:
        UserError: The settings are invalid.
        OSError: A file cannot be read.
    """
    settings, lines = folder.settings(), folder.log()
    if settings.command == "learn":
        return _of_records(settings, lines)
    return f"{_of_cycles(lines)}{state_of_cycle(folder, settings, lines)}"


def state_of_cycle(folder: RunFolder, settings: RunSettings, lines: Sequence[Mapping[str, Any]]) -> str:
    """Returns which cycle of self-play is under way, and how many of its games are saved."""
    cycle = max((line["cycle"] for line in lines), default=0) + 1
    if cycle > settings.cycle.cycles:
        return "all cycles are finished"
    if not folder.network(0).exists():
        return f"the first network is being made, then cycle 1 of {settings.cycle.cycles}"
    games = total(shard_facts(folder.shards, cycle).values()).games
    return (
        f"cycle {cycle} of {settings.cycle.cycles} is under way, {games:,} of {settings.cycle.games:,} games are saved"
    )


def _of_cycles(lines: Sequence[Mapping[str, Any]]) -> str:
    if not lines:
        return "no cycle is finished; "
    last = lines[-1]
    done = "1 cycle" if len(lines) == 1 else f"{len(lines)} cycles"
    text = f"{done}, {last['games_in_all']:,} games, {last['samples']:,} samples, {duration_text(last['seconds'])}"
    rated = [line for line in lines if "elo" in line]
    return f"{text}: {_strength(rated)}; " if rated else f"{text}; its strength is not measured yet; "


def _strength(rated: Sequence[Mapping[str, Any]]) -> str:
    """Describes the last Elo, and what the last match says about the progress."""
    last = rated[-1]
    text = f"network {last['cycle']} has {last['elo']:+,.0f} Elo over network 0"
    if "elo_low" not in last:
        return text
    text += f" (95% interval {last['elo_low']:+,.0f} to {last['elo_high']:+,.0f})"
    if last["elo_low"] <= 0 <= last["elo_high"]:
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
