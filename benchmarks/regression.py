"""How many move problems a GTP engine solves: files of `loadsgf` / `reg_genmove` / `#? [answers]`.

Answers are kept in `work/`, a folder for each state of the code and of the engine; a second run resumes there.
"""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kept_results import WORK, digest_of, fingerprint, whole_lines

from gtp_engine.arena.elo import wilson_interval
from gtp_engine.arena.gtp_client import EngineError, GtpClient

PROBLEMS = Path(__file__).resolve().parents[2] / "shared" / "regression"


class Problem(NamedTuple):
    """Load a position, ask for a move of `colour`, compare with the accepted vertices."""

    number: str
    load: str
    colour: str
    accepted: tuple[str, ...]


def read_problems(file: Path) -> Iterator[Problem]:
    """Returns the problems of a .tst file; paths in it are relative to its folder."""
    load, asked = "", None
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("loadsgf "):
            _, name, *move = line.split()
            load = " ".join(["loadsgf", str(file.parent / name), *move])
        elif match := re.fullmatch(r"(\d+) reg_genmove (\S+)\s*", line):
            asked = match
        elif (answer := re.fullmatch(r"#\?\s*\[(.+)\]\s*", line)) and asked:
            yield Problem(asked[1], load, asked[2], tuple(answer[1].upper().split("|")))
            asked = None


def solve(client: GtpClient, problem: Problem) -> dict[str, object]:
    """Lets the engine solve a problem; returns a line of the results."""
    client.send(problem.load)
    move = client.send(f"reg_genmove {problem.colour}").upper()
    return {"problem": problem.number, "move": move, "solved": move in problem.accepted}


def run(command: str, file: Path, results: Path, timeout: float) -> None:
    """Plays the problems of a file that have no result yet, then prints the count."""
    known = [json.loads(line) for line in whole_lines(results)]
    done = {result["problem"] for result in known}
    problems = [problem for problem in read_problems(file) if problem.number not in done]
    if problems:
        results.parent.mkdir(parents=True, exist_ok=True)
        with GtpClient(command, timeout=timeout) as client, results.open("a") as out:
            for problem in problems:
                result = solve(client, problem)
                known.append(result)
                print(json.dumps(result), file=out, flush=True)
                print(f"{file.name} {problem.number}: {result['move']}, {'solved' if result['solved'] else 'wrong'}")
    solved = sum(result["solved"] for result in known)
    low, high = wilson_interval(solved / max(len(known), 1), len(known))
    print(f"{file.name}: {solved}/{len(known)} solved, {100 * low:.0f} to {100 * high:.0f} % (95 % interval)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="problem files (default: those next to the checkout)")
    parser.add_argument("--engine", help="GTP command line (default: this engine's rollouts, 1 s a move, 2 threads)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for an answer (default: 300)")
    options = parser.parse_args()
    rollouts = ["--network", "none", "--seconds", "1", "--threads", "2"]
    ours = shlex.join([sys.executable, "-m", "gtp_engine", "gtp", *rollouts])
    command = options.engine or ours
    name = f"{fingerprint()} {digest_of(command)}"
    files = [file.resolve() for file in options.files] or sorted(PROBLEMS.glob("*.tst"))
    if not files:
        sys.exit(f"no problems in {PROBLEMS}; name the .tst files")
    try:
        for file in files:
            run(command, file, WORK / f"regression-{name}" / f"{file.stem}.jsonl", options.timeout)
    except (EngineError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


if __name__ == "__main__":
    main()
