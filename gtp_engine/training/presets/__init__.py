"""Settings for `train --preset`: TOML files with comments."""

from pathlib import Path

from ...base.errors import UserError

FOLDER = Path(__file__).parent
DEFAULT_PRESET, GPU_PRESET = "laptop", "gpu"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def preset_file(name: str) -> Path:
    """Returns the file of a preset; UserError for an unknown name."""
    if name not in NAMES:
        raise UserError(f"unknown preset {name!r}: expected {', '.join(NAMES)}")
    return FOLDER / f"{name}.toml"
