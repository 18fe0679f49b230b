"""What every part of the program stands on: compilation, files and folders, errors, messages, the machine."""

VERSION = "0.21.0"
