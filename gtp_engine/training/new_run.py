"""How a run begins or resumes: its settings, from presets, files and options, and the network that it starts from."""

import logging
import shutil
from collections.abc import Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.folders import data_dir
from ..base.settings import settings_of
from ..engine.compile_ahead import compile_ahead
from ..nets.library import find_network, load_network, network_name
from ..search.evaluate.choices import AUTO
from ..search.evaluate.devices import check_device, find_device
from .distillation.labels import FACTS, check_labels, facts_of
from .presets import DEFAULT_PRESET, GPU_PRESET, preset_file
from .run_folder import RunFolder
from .run_settings import DECAYS, OF_RECORDS, RATES, RunSettings
from .settings_toml import read_settings

logger = logging.getLogger(__name__)

RECORDS = RunSettings(learn=OF_RECORDS)  # what options of `learn` change


class RunConflictError(UserError):
    """The request contradicts the run that is already in the folder."""


def given_settings(preset: str | None, file: Path | None) -> RunSettings | None:
    """Returns the settings of a preset or of a file for self-play; None if neither is given.

    UserError for the preset for a GPU on a machine without one; a copy of its file is accepted, which may be changed.
    """
    if not preset and not file:
        return None
    if preset == GPU_PRESET and find_device(AUTO) == "cpu":
        raise UserError(
            f"the preset {GPU_PRESET} is made for a GPU, and none is found on this machine: choose --preset "
            f"{DEFAULT_PRESET}, or adapt a copy of its file and name that with --settings"
        )
    settings = read_settings(file or preset_file(preset or DEFAULT_PRESET))
    if settings.command != "train":
        raise UserError(f"{file}: settings of a run from records; `learn` makes its own from its options")
    return settings


def begin_self_play(folder: RunFolder, settings: RunSettings | None, start: Path | None = None) -> None:
    """Makes the run in a new folder, with the default preset unless settings are given; or checks an existing run.

    It starts from the network of `starting_network`, and compiles what plays if that was not done on this machine.
    RunConflictError if it exists and has other settings.
    """
    if folder.exists:
        before = folder.settings("train")
        if settings and replace(settings, cycle=replace(settings.cycle, start=before.begin.start)) != before:
            raise RunConflictError(
                f"{folder.path} already has settings, which differ: leave out --preset or --settings to resume with "
                f"those in {folder.settings_file}, or choose another folder"
            )
        settings = before
    chosen = settings or read_settings(preset_file(DEFAULT_PRESET))
    chosen = chosen.starting_from(start) if start else chosen
    check_device(chosen.machine.device)
    if not folder.exists or chosen != settings:
        folder.create(chosen)
    compile_ahead()  # before Ctrl-C is only noted, because nothing interrupts the compiler


def with_options(settings: RunSettings, given: Mapping[str, Any]) -> RunSettings:
    """Returns settings with those of records, learning and the machine replaced that options of `learn` name."""
    parts = {}
    for section in ("records", "learn", "machine"):
        values = getattr(settings, section)
        names = settings_of(values).keys() & given.keys()
        if section == "machine":
            names -= {"precision"}  # the option is that of the training
        parts[section] = replace(values, **{name: given[name] for name in names})
    return replace(settings, **parts)


def settings_from_options(given: Mapping[str, Any]) -> RunSettings:
    """Returns the settings of a new run from records; UserError for options that are not accepted."""
    optimizer = given.get("optimizer", RECORDS.learn.optimizer)
    usual = {"learning_rate": RATES[optimizer], "weight_decay": DECAYS[optimizer]}
    return with_options(RECORDS, {**usual, **given})


def begin_records(folder: RunFolder, new: RunSettings, given: Mapping[str, Any]) -> None:
    """Makes the run in a new folder from the options of `learn`, or changes an existing run as the options request.

    Until something was learned, options that name something to learn replace the run. `new` are the settings of a new
    run, `settings_from_options`, and `given` the options by the names of their settings.

    Raises:
        RunConflictError: An option differs from the run's settings; the message names it.
        UserError: The folder contains something else, or the labels are those of another teacher or of other records.
    """
    before = folder.settings("learn") if folder.exists else None
    check_device(new.machine.device if before is None else with_options(before, given).machine.device)
    if new.records.teacher or (before is not None and before.records.teacher):
        compile_ahead()  # as for self-play
    if before is None or (new.records.has_source and not folder.state_file.exists()):
        _check_labels(folder, new)
        if before is not None and before != new:
            logger.warning(f"{folder.settings_file}: replaced by the options, as nothing was learned before")
            old, records = before.records, new.records
            if (old.games, old.filters) != (records.games, records.filters):
                shutil.rmtree(folder.games, ignore_errors=True)
        folder.create(new)
        return
    wanted = with_options(before, given)
    changed = _differences(before, wanted)
    for name, (item, old, now) in changed.items():
        is_other_kind = name == "teacher" and not (old and (folder.labels_of(before) / FACTS).exists())
        if not item.metadata.get("changeable") or is_other_kind:
            raise RunConflictError(
                f"{folder.path} contains a run with {name} = {old!r}, not {now!r}: leave the option out, or choose "
                "another folder"
            )
    _, checkpoint = folder.load() if "samples" in changed else (None, None)
    learned = int((checkpoint.training or {}).get("samples", 0)) if checkpoint else 0
    if wanted.learn.samples < learned:  # by the state: the log may be older or newer
        raise UserError(f"{folder.path}: {learned:,} samples are learned already; choose more --samples than that")
    if changed.keys() & {"teacher", "positions", "label_sizes"}:
        _check_labels(folder, wanted)
    if changed:
        folder.create(wanted)


def _check_labels(folder: RunFolder, settings: RunSettings) -> None:
    """Raises UserError if a run with a teacher would find labels of another one or of other records."""
    if settings.records.teacher:
        check_labels(folder.labels_of(settings), facts_of(settings.records))


def _differences(old: RunSettings, new: RunSettings) -> "dict[str, tuple[Field[Any], Any, Any]]":
    """Returns the settings in which two runs differ, by name: the declaration and both values."""
    found: dict[str, tuple[Field[Any], Any, Any]] = {}
    for section in fields(RunSettings):
        before, after = getattr(old, section.name), getattr(new, section.name)
        for name, item in settings_of(before).items():
            if getattr(before, name) != getattr(after, name):
                found[name] = item, getattr(before, name), getattr(after, name)
    return found


def default_folder(settings: RunSettings, start: str | None) -> Path:
    """Returns the folder of a run of `learn` in the user's data folder, named after its network."""
    network = network_name(Path(start)) if start else settings.begin.network
    return data_dir() / "runs" / f"{'distill' if settings.records.has_labels else 'learn'}-{network}"


def starting_network(folder: RunFolder, start: str) -> Path | None:
    """Returns the file of the network to start from, after reading it once, so that no run begins with an unusable one.

    It is None if `start`, a file or a name, is "" for random weights, or if the run has already started from it.

    Raises:
        RunConflictError: The run exists and has started differently.
        UserError: The network cannot be read or trained.
    """
    if not start:
        return None
    if folder.state_file.exists():  # the network's file may be gone by now, or have another path on this machine
        before = folder.load()[0].start
        if not before or not network_name(Path(before)).startswith(network_name(Path(start))):
            raise RunConflictError(f"--from is only for new runs; {folder.path} was started differently")
        return None
    path = find_network(start)
    if load_network(path).config.metadata_version:
        raise UserError(f"{path}: it imitates humans of a given profile; it cannot be trained on games")
    return path
