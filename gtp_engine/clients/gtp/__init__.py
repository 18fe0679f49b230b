"""GTP version 2: lines in, answers out.

`lines` has the form of lines and reads them, `session` answers them in order and holds what the commands share;
`game_commands` and `program_commands` contain the commands, `formats` the form of analysis.
"""
