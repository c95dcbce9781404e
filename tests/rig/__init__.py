"""Records real agent runs under strace, as test data: see `tests/data/recordings/README.md`."""
