# Two commands do everything: `make book` and `make test`. Both make the environment they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin/python
READY := $(VENV)/ready
EXTRAS := $(VENV)/extras

NEED_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "This needs Python 3.11 or newer; choose one with: make PYTHON=/path/to/python3"; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help book pdf test extras lint style types spelling notebooks refresh bench bench-scale peers matrix mutate serve clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(READY) ## execute every chapter and build the book into _build/html
	@echo "Building the book: every chapter is executed (a minute or two)."
	@rm -rf _build
	@$(VENV)/bin/jupyter-book build . --warningiserror --nitpick --keep-going
	@echo "Open _build/html/index.html, or run: make serve"

pdf: $(READY) ## make one PDF of the book, from the stored outputs (with TeX; see README.md)
	@for tool in xelatex latexmk xindy; do command -v $$tool >/dev/null || { \
	  echo "$$tool is missing: README.md lists the packages of TeX."; exit 1; }; done
	@echo "Typesetting the book (a minute or two)."
	@USERDP_STORED=1 $(VENV)/bin/jupyter-book build . --builder latex --path-output _build/pdf --quiet
	@cd _build/pdf/_build/latex && latexmk -silent -xelatex -interaction=nonstopmode companion.tex >/dev/null 2>&1 || true
	@$(BIN) tools/check_pdf.py _build/pdf/_build/latex
	@cp _build/pdf/_build/latex/companion.pdf _build/companion.pdf
	@echo "Read _build/companion.pdf"

test: $(READY) ## run the tests, and every chapter against its stored outputs
	@echo "Testing userdp, its doctests, and the chapters against their stored outputs."
	@$(BIN) -m pytest --nbval --nbval-current-env

extras: $(EXTRAS) ## add Spark (for Java 17) and other libraries, so that their tests run too
	@command -v java >/dev/null || echo "There is no Java. On Debian or Ubuntu: sudo apt install openjdk-17-jre-headless"

# The parts of `make lint` are also the hooks of pre-commit, each for the files that it reads.
lint: style types spelling notebooks ## check style, types, spelling, and how chapters are stored

style: $(READY)
	@echo "Checking style."
	@$(BIN) -m ruff check userdp tests tools benchmarks book
	@$(BIN) -m ruff format --check userdp tests tools benchmarks
	@$(BIN) -m ruff format --check --line-length 88 book

types: $(READY)
	@echo "Checking types."
	@$(BIN) -m mypy

spelling: $(READY)
	@echo "Checking spelling."
	@$(VENV)/bin/codespell -D - -D tools/american.txt

notebooks: $(READY)
	@echo "Checking how chapters are stored, and what their outputs hold."
	@$(BIN) -m pytest --quiet tests/test_book.py tests/test_outputs.py

refresh: $(READY) ## re-execute the chapters and store their outputs, pictures and data
	@echo "Re-executing the chapters."
	@$(BIN) tools/refresh.py

bench: $(READY) ## measure the speed, and write it to the page of benchmarks
	@echo "Measuring (a minute); the numbers go to book/data."
	@$(BIN) benchmarks/run.py

bench-scale: $(SPARK) ## measure large tables, Spark too (some minutes, a gigabyte of disk)
	@echo "Measuring large tables (some minutes); the numbers go to book/data."
	@$(BIN) benchmarks/scale.py

peers: $(READY) ## measure other libraries, each in an environment of its own
	@echo "Installing and measuring five other libraries (some minutes); environments go to .peers."
	@$(BIN) benchmarks/peers.py

matrix: ## test on each Python found, with the oldest and the newest numpy and scipy
	@$(NEED_PYTHON)
	@echo "Testing on every Python found (several minutes each); environments and logs go to .matrix."
	@PYTHON='$(PYTHON)' $(PYTHON) tools/matrix.py

# mutmut is installed here only: nothing else needs it, or the terminal toolkit it brings along. To
# break some modules only: make mutate MODULES="noise table"
mutate: $(READY) ## break the code in thousands of ways, and count what the tests notice
	@echo "Mutation testing (some twenty minutes on two cores); the counts go to book/data."
	@$(BIN) -m pip install --quiet --disable-pip-version-check mutmut==3.8.1
	@$(BIN) tools/mutate.py $(MODULES)

serve: book ## build the book and show it on http://localhost:8000
	@$(BIN) -m http.server --directory _build/html --bind 127.0.0.1 8000

clean: ## remove the built book and the environments
	rm -rf _build $(VENV) .matrix .peers mutants

# A stamp, so that the environment is made again exactly when what it is made from has changed.
$(READY): requirements.txt pyproject.toml
	@$(NEED_PYTHON)
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@echo "Making the environment in $(VENV) (once, a minute or two)."
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@# Matplotlib's first import builds a font cache and says so on stderr; have it done here.
	@$(BIN) -c 'import matplotlib.pyplot' 2>/dev/null
	@touch $@

$(EXTRAS): requirements-extras.txt $(READY)
	@echo "Adding Spark and other libraries to the environment (once, some minutes)."
	@$(BIN) -m pip install --quiet --disable-pip-version-check -r requirements-extras.txt
	@touch $@
