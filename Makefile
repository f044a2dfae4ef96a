# What developers run. PYTHON may be any interpreter with the `test` extra installed.
PYTHON ?= python

.PHONY: test lint tables shapes manifest rule

test:
	$(PYTHON) -m pytest

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy ptxlint rules

# The parser's LALR tables, after a change to grammars/ptx.lark.
tables:
	$(PYTHON) -m ptxlint.ptx.tables

# The statement shapes that ship, after a change to the grammar or to corpus/.
shapes:
	$(PYTHON) -m ptxlint.ptx.ship corpus/ptx

# rules/manifest.json, after a change to any RULE.
manifest:
	$(PYTHON) -m ptxlint.engine.manifest

# make rule CODE=PTX302 NAME=declared-alignment-too-small CATEGORY=memory
rule:
	$(PYTHON) -m ptxlint.engine.scaffold $(CODE) $(NAME) $(CATEGORY)
	$(MAKE) manifest
