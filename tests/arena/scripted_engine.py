"""A GTP engine that plays what its command line says: vertices in turn, then passes.

Besides vertices: `crash` ends the process, `sleep` falls silent, `garbage` answers with nonsense, `error` with an
error, `slow` takes 0.6 s for a pass, `mutter` falls silent after a stray line. Options before the moves: --name NAME,
--score TEXT (for final_score), --dead "D4 E5", --cleanup "A2 B1" (moves for kgs-genmove_cleanup), --refuse COMMAND,
--log FILE (of the commands received), --once FILE (crash or sleep only while FILE does not exist, and make it then).
"""

import sys
import time
from pathlib import Path

COMMANDS = "boardsize clear_board final_score final_status_list fixed_handicap genmove komi list_commands"
COMMANDS += " name play quit version"


def main() -> None:
    words = sys.argv[1:]
    options: dict[str, str] = {}
    while words and words[0].startswith("--"):
        options[words[0]] = words[1]
        words = words[2:]
    commands = COMMANDS.split()
    if "--score" not in options:
        commands.remove("final_score")
    if "--dead" not in options:
        commands.remove("final_status_list")
    if "--cleanup" in options:
        commands.append("kgs-genmove_cleanup")
    cleanup = options.get("--cleanup", "").split()
    moves = list(words)
    log = Path(options["--log"]) if "--log" in options else None
    if log:
        commands += ["time_settings", "time_left", "kata-set-rules"]
    for line in sys.stdin:
        if log:
            with log.open("a") as file:
                file.write(line)
        command = line.split()[0]
        answer = {
            "name": options.get("--name", "Script"),
            "version": "1",
            "list_commands": "\n".join(commands),
            "final_score": options.get("--score", ""),
            "final_status_list": options.get("--dead", ""),
        }.get(command, "")
        if command == "clear_board":
            moves = list(words)
        elif command == "genmove":
            answer = moves.pop(0) if moves else "pass"
            answer = misbehave(answer, options.get("--once"))
        elif command == "kgs-genmove_cleanup":
            answer = cleanup.pop(0) if cleanup else "pass"
        elif command == options.get("--refuse"):
            answer = "error"
        print("? refused" if answer == "error" else f"= {answer}", end="\n\n", flush=True)
        if command == "quit":
            break


def misbehave(answer: str, once: str | None) -> str:
    if answer in ("crash", "sleep") and once:
        if Path(once).exists():
            return "pass"
        Path(once).touch()
    if answer == "crash":
        sys.exit("out of memory")
    if answer == "mutter":
        print("thinking", flush=True)
    if answer in ("sleep", "mutter"):
        time.sleep(60)
    if answer == "slow":
        time.sleep(0.6)
        return "pass"
    return "hello" if answer == "garbage" else answer


main()
