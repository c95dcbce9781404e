"""The commands of `capsule`, each module a few that belong together. `provenance/cli.py` puts them under one name."""
