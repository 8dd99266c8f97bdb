# Needs CPython 3.11 or newer (with its venv module) and make; no C compiler.
# PYTHON=/path/to/python chooses the interpreter, for example: make test PYTHON=python3.12

VENV := .venv
BIN := $(VENV)/bin/python
CANDIDATES := $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python
PYTEST := $(BIN) -m pytest -n 2
DEMO := examples/double_pendulum.py
BENCHMARKS = $(sort $(wildcard benchmarks/bench_*.py))

# pip leaves bytecode to compileall, which works in parallel and whatever PYTHONDONTWRITEBYTECODE says.
PIP_INSTALL = $(BIN) -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# A few packages ship template files that are not Python; they cannot be compiled and need not be.
COMPILE = env -u PYTHONDONTWRITEBYTECODE $(BIN) -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true

# The build backend is installed first, because constraints do not reach into pip's isolated builds.
define INSTALL
@echo "Installing torseur$(1) into $(VENV)"
@$(PIP_INSTALL) hatchling editables
@$(PIP_INSTALL) --no-build-isolation --editable ".$(1)"
@$(COMPILE)
@touch $@
endef

.PHONY: help demo test check quick thorough coverage bench docs fuzz truth edges mutants wheel clean

help:
	@echo "make demo    install, then report on a double pendulum: equations, motion, animation"
	@echo "make test    install everything, check the code, run the whole test suite"
	@echo "make thorough the suite with all cases over the library and all pairs of options, of which make test takes a sample"
	@echo "make quick   a sample of the test suite without its slow cases (a minute and a half)"
	@echo "make coverage the suite once more, and which part of the statements and branches of every folder it runs (an hour)"
	@echo "make check   ruff and mypy; types, linter and unit tests of the JavaScript where npm is there"
	@echo "make bench   install the peers, run the benchmarks and name ratios that worsened by a fifth"
	@echo "make docs    the documentation site, into build/site/html; a warning is an error (a minute)"
	@echo "make fuzz    a million mutated descriptions and a hundred thousand mutated robot files (an hour)"
	@echo "make truth   random mechanisms over the whole language, compared with an independent oracle (an hour; goes on where it was)"
	@echo "make edges   damaged files, killed processes, full disks, forged caches, load: counted, nothing may be lost (half an hour)"
	@echo "make mutants faults put into the product one at a time: does a test notice? (an hour; goes on where it was)"
	@echo "make wheel   build the package and try it in bare environments, with every optional set (a quarter of an hour)"
	@echo "make clean   remove the environment, caches and build products"

$(VENV)/.created:
	@for python in $(CANDIDATES); do \
	    if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Creating $(VENV) with $$($$python --version)"; \
	        "$$python" -m venv $(VENV) && touch $@; exit; \
	    fi; \
	done; \
	echo "torseur needs Python 3.11 or newer with its venv module; none of these has it: $(CANDIDATES)." >&2; \
	echo "Install one (Debian: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python" >&2; \
	exit 1

$(VENV)/.core: $(VENV)/.created pyproject.toml constraints.txt
	$(call INSTALL,)

$(VENV)/.dev: $(VENV)/.created pyproject.toml constraints.txt
	$(call INSTALL,[dev])

$(VENV)/.docs: $(VENV)/.created pyproject.toml constraints.txt
	$(call INSTALL,[docs])

$(VENV)/.bench: $(VENV)/.created pyproject.toml constraints.txt
	$(call INSTALL,[bench])

demo: $(VENV)/.core
	@$(BIN) $(DEMO)

check: $(VENV)/.dev
	@$(BIN) -m ruff check .
	@$(BIN) -m ruff format --check .
	@$(BIN) -m mypy
	@tools/web/check.sh

test: check
	@$(PYTEST)

thorough: check
	@$(PYTEST) --thorough

quick: $(VENV)/.dev
	@$(PYTEST) --quick

coverage: $(VENV)/.dev
	@$(PYTEST) --cov --cov-report=json:build/coverage.json --cov-report=
	@$(BIN) tools/coverage_by_folder.py build/coverage.json

bench: $(VENV)/.bench
	@test -n "$(BENCHMARKS)" || { echo "There are no benchmarks: benchmarks/bench_*.py" >&2; exit 1; }
	@$(BIN) benchmarks/history.py $(BENCHMARKS)

docs: $(VENV)/.docs
	@$(BIN) tools/site/build_site.py

fuzz: $(VENV)/.dev
	@$(BIN) tests/description/language/fuzz.py 1000000
	@$(BIN) tests/description/readers/fuzz.py --count 100000

truth: $(VENV)/.dev
	@$(BIN) tests/truth/run.py --seconds 3600 --jobs 2 --record build/truth.jsonl --table build/truth.md

edges: $(VENV)/.dev
	@$(BIN) benchmarks/try_edges.py --minutes 30 --table benchmarks/results/edges.md

mutants: $(VENV)/.dev
	@$(BIN) tools/mutants/run_mutants.py --count 400 --minutes 60 --table benchmarks/results/mutants.md

wheel: $(VENV)/.dev
	@$(BIN) tools/release/try_wheel.py --all

clean:
	@rm -rf tools/web/node_modules $(VENV) build dist reports .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
