# The jobs of run.py under make's names. `make test ARGS="-k store"` passes words on.
PYTHON ?= python3

.PHONY: help demo test neo4j lint types docs check
help:
	@$(PYTHON) run.py --help

demo test neo4j lint types docs check:
	@$(PYTHON) run.py $@ $(ARGS)
