# The two main commands are `make book` and `make test`. Both create the environment they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin/python
PIP := $(BIN) -m pip --quiet --disable-pip-version-check
READY := $(VENV)/ready
TESTS := $(VENV)/tests
EXTRAS := $(VENV)/extras
GENERATED := _build dist $(VENV) .nox .peers mutants

NEED_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "This needs Python 3.11 or newer; choose one with: make PYTHON=/path/to/python3"; exit 1; }

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help executed book preview pdf site reproducible release releasable test test-all extras lint style types spelling notebooks formats lock refresh bench bench-scale peers floors mutate serve clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The commit, its date in seconds, and whether files differ from it, determined once, before anything
# executes. All builds of a commit carry its date, so they are identical to the last byte. An archive made
# by git has no .git, but has the commit in .git_archival; in any other copy that file has a line with
# "Format", and the commit is unknown.
ifneq ($(filter book preview pdf site reproducible release serve,$(MAKECMDGOALS)),)
ifdef USERDP_STAMP
COMMIT_AND_DATE := $(wordlist 1,2,$(USERDP_STAMP))
CHANGED := $(word 3,$(USERDP_STAMP))
else ifneq ($(wildcard .git),)
COMMIT_AND_DATE := $(shell git log -1 --format='%H %ct')
CHANGED := $(shell git diff --quiet HEAD || echo changed)
else
COMMIT_AND_DATE := $(or $(shell grep -v Format .git_archival),none 0)
endif
DATE := $(lastword $(COMMIT_AND_DATE))
export USERDP_STAMP := $(strip $(COMMIT_AND_DATE) $(CHANGED))
export SOURCE_DATE_EPOCH ?= $(DATE)
endif

# Builds, here and below, start by deleting the earlier one, which may be from older code.
BUILD = rm -rf _build/html _build/.doctrees _build/jupyter_execute && $(VENV)/bin/jupyter-book build . \
  --warningiserror --nitpick --keep-going --quiet && echo "Open _build/html/index.html, or run: make serve"

executed: $(READY)
	@echo "Executing every chapter (four minutes on two cores)."
	@$(BIN) tools/execute.py

book: executed ## execute every chapter and build the book into _build/html
	@echo "Building the pages (three minutes)."
	@USERDP_EXECUTION=cache; export USERDP_EXECUTION; $(BUILD)

# build the book from the stored outputs, without executing anything
preview: $(READY)
	@echo "Building the pages from the stored outputs (two minutes)."
	@USERDP_EXECUTION=off; export USERDP_EXECUTION; $(BUILD)

# make one PDF of the book (with TeX; see README.md)
pdf: executed
	@for tool in xelatex latexmk xindy; do command -v $$tool >/dev/null || { \
	  echo "$$tool is missing: .ci/tex installs what is needed on Debian and Ubuntu."; exit 1; }; done
	@echo "Typesetting the book (a minute or two)."
	@rm -rf _build/pdf
	@USERDP_PDF= USERDP_EXECUTION=cache $(VENV)/bin/jupyter-book build . --builder latex --path-output _build/pdf --quiet
	@cd _build/pdf/_build/latex && latexmk -silent -xelatex -interaction=nonstopmode companion.tex >/dev/null 2>&1 || true
	@$(BIN) tools/check_pdf.py _build/pdf/_build/latex
	@cp _build/pdf/_build/latex/companion.pdf _build/companion.pdf
	@echo "Read _build/companion.pdf"

site: export USERDP_PDF := _build/companion.pdf
site: pdf book ## build the book as published, with the PDF linked from its first page

# build the site twice, and compare every byte
reproducible: site
	@rm -rf _build/again && git clone --quiet . _build/again && ln -s ../../.venv _build/again/.venv
	@PYTHONPATH=$(CURDIR)/_build/again $(MAKE) --directory _build/again --assume-old .venv/ready site
	@diff -rq _build/html _build/again/_build/html && cmp _build/companion.pdf _build/again/_build/companion.pdf
	@echo "Both builds are identical, to the last byte."

release: releasable reproducible test-all ## put a release into dist, and tag it locally
	@$(BIN) -m tools.release

# Checked first, because the rest takes long.
releasable: $(READY)
	@$(BIN) -m tools.release --check

PYTEST = $(BIN) -m pytest --numprocesses logical --dist loadfile --nbval --nbval-current-env

test: $(TESTS) ## test the package, and the paper's chapters against their stored outputs
	@echo "Testing userdp, its doctests and the paper's chapters (five minutes on two cores)."
	@$(PYTEST) -m "not slow" --hypothesis-profile short --ignore tests/proofs --ignore tests/site/pages

# Skips the proofs if Coq is missing, and the pages if there is no built book or no Chromium. Property
# tests run again, with more examples.
test-all: test ## run every test and every chapter, check the proofs and the built book
	@echo "Testing the rest (an hour on two cores)."
	@$(PYTEST) -m "slow or hypothesis"

# add Spark (for Java 17) and other libraries, so that their tests run too
extras: $(EXTRAS)
	@java -version 2>&1 | grep -q '"17[.]' || echo "Spark's tests need Java 17, and are skipped without it. On Debian: sudo apt install openjdk-17-jre-headless"

# Each part of `make lint` is also a pre-commit hook for the files that it reads.
lint: style types spelling notebooks formats ## check style, types, spelling, stored chapters, workflows

style: $(TESTS)
	@echo "Checking style."
	@$(BIN) -m ruff check userdp tests tools book
	@$(BIN) -m ruff format --check userdp tests tools
	@$(BIN) -m ruff format --check --line-length 88 book

types: $(TESTS)
	@echo "Checking types."
	@$(BIN) -m mypy

spelling: $(TESTS)
	@echo "Checking spelling."
	@$(VENV)/bin/typos

notebooks: $(TESTS)
	@echo "Checking how chapters and their outputs are stored."
	@$(BIN) -m pytest --quiet tests/site/test_book.py

# GitHub silently ignores an invalid form or workflow. zizmor finds security problems in workflows. The
# first command checks that nox can read its sessions, which run weekly.
formats: $(TESTS)
	@echo "Checking the workflows, the issue forms and CITATION.cff."
	@$(VENV)/bin/nox -f tools/noxfile.py --list >/dev/null
	@$(VENV)/bin/zizmor --offline --quiet --persona pedantic .github/workflows
	@$(SCHEMA).github-workflows .github/workflows/*.yml
	@$(SCHEMA).github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	@$(SCHEMA).dependabot .github/dependabot.yml
	@$(SCHEMA).citation-file-format CITATION.cff
SCHEMA = $(VENV)/bin/check-jsonschema --quiet --builtin-schema vendor

# A single resolution for all supported Python versions and all platforms, with the hash of each file.
LOCKED = $(VENV)/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
  --generate-hashes --no-emit-package userdp --custom-compile-command "make lock"
lock: $(TESTS) ## resolve the required packages and their dependencies into requirements/
	@echo "Resolving dependencies; versions and hashes go to requirements/*.lock."
	@$(LOCKED) requirements.txt --output-file requirements/book.lock
	@$(LOCKED) requirements/tests.txt --constraint requirements/book.lock --output-file requirements/tests.lock
	@$(LOCKED) requirements/extras.txt --constraint requirements/book.lock --constraint requirements/tests.lock \
	  --output-file requirements/extras.lock

# For some chapters only: make refresh CHAPTERS="figure-2 kkt"
refresh: $(READY) ## re-execute the chapters and store their outputs, pictures and data
	@echo "Re-executing the chapters."
	@$(BIN) tools/execute.py --store $(CHAPTERS)

bench: $(READY) ## measure speed, and write the results to the book's data
	@echo "Measuring speed (a minute); the numbers go to book/data."
	@$(BIN) tools/benchmarks/run.py

# measure large tables, Spark too (some minutes, a gigabyte of disk)
bench-scale: $(EXTRAS)
	@echo "Measuring large tables (some minutes); the numbers go to book/data."
	@$(BIN) tools/benchmarks/scale.py
	@$(BIN) tools/benchmarks/scale_groups.py
	@$(BIN) tools/benchmarks/scale_costs.py

# measure other libraries, each in an environment of its own
peers: $(READY)
	@echo "Installing and measuring five other libraries (some minutes); environments go to .peers."
	@$(BIN) tools/benchmarks/peers.py

# search for the certificates of lower bounds that the page lower-bound checks
floors: $(READY)
	@echo "Solving linear programs (a minute or two); the certificates go to book/data/floors."
	@$(BIN) tools/floors.py

# Settings are in pyproject.toml. Only this target installs mutmut. To see what a mutant changes, run
# .venv/bin/mutmut show NAME; to test all mutants of a module, .venv/bin/mutmut run "userdp.noise.*"
#
# plant small random bugs in the code, and count those that the tests do not notice
mutate: $(EXTRAS)
	@echo "Testing a random sample of mutants (an hour on one core); the counts go to book/data."
	@$(PIP) install mutmut==3.8.1
	@rm -rf mutants; ulimit -v 8388608; $(BIN) tools/benchmarks/mutants.py

serve: book ## build the book and show it on http://localhost:8000
	@$(BIN) -m http.server --directory _build/html --bind 127.0.0.1 8000

clean: ## remove the built book and the environments
	rm -rf $(GENERATED)

# Stamp files: the environment is rebuilt only when its inputs change. Python compiles modules when it
# imports them; compiling all installed modules would take 200 MB.
unexport PYTHONDONTWRITEBYTECODE
NO_INDEX = { echo "pip could not install everything: it needs a network connection and a package index."; exit 1; }
ADD = $(PIP) install --no-compile --require-hashes --no-build-isolation -r
$(READY): requirements/book.lock pyproject.toml
	@$(NEED_PYTHON)
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@echo "Creating the environment in $(VENV) (once, a minute or two)."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@# First the build tool for source packages; pip would download it again, without a hash.
	@sed -n '/^setuptools==/,/# via/p' requirements/book.lock > $(VENV)/builder.txt
	@$(ADD) $(VENV)/builder.txt || $(NO_INDEX)
	@$(ADD) requirements/book.lock || $(NO_INDEX)
	@.binder/slim $(BIN)
	@$(PIP) install --no-deps --no-build-isolation -e .
	@# Matplotlib's first import builds a font cache and reports it on stderr; do this here.
	@$(BIN) -c 'import matplotlib.pyplot' 2>/dev/null
	@touch $@

$(TESTS): requirements/tests.lock $(READY)
	@echo "Adding what tests and linters need to the environment (once, a minute)."
	@$(ADD) requirements/tests.lock || $(NO_INDEX)
	@touch $@

$(EXTRAS): requirements/extras.lock $(TESTS)
	@echo "Adding Spark and other libraries to the environment (once, some minutes)."
	@$(ADD) requirements/extras.lock || $(NO_INDEX)
	@touch $@
