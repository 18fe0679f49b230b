"""Settings of runs that take seconds, for tests."""

from gtp_engine.training.run_settings import RunSettings
from gtp_engine.training.settings_toml import parse_settings

SETTINGS = """
version = 1
[cycle]
network = "b1c16"
cycles = 3
games = 48
random_games = 200
shard_games = 12
start = ""
[games]
sizes = { 5 = 1.0 }
[search]
visits = { 0 = 12 }
[learn]
samples = 6400
batch_size = 64
learning_rate = 5e-3
warm_up = 640
average = 2000
precision = "float32"
[match]
every = 0
[machine]
workers = 1
threads = 1
device = "cpu"
precision = "float32"
"""


def settings(**replaced: str) -> RunSettings:
    """Returns the settings, with some values replaced."""
    return parse_settings(text(**replaced))


def text(**replaced: str) -> str:
    """Returns the settings as TOML; `replaced` are names and new values."""
    lines = SETTINGS.splitlines()
    for name, value in replaced.items():
        (number,) = (number for number, line in enumerate(lines) if line.startswith(f"{name} ="))
        lines[number] = f"{name} = {value}"
    return "\n".join(lines)
