# Front door: `make` builds build/mbgrad. CMake does the work; see CMakePresets.json and CONTRIBUTING.md.

PREFIX ?= /usr/local
WERROR ?= OFF
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CLANG_FORMAT ?= $(shell command -v clang-format-14 || echo clang-format)

CTEST = ctest --output-on-failure -j $(JOBS) --timeout 600
UNTRACKED = git ls-files --others --exclude-standard 2>/dev/null
LEFT_FILES = left=$$($(UNTRACKED) | LC_ALL=C comm -13 build/untracked -); if [ -n "$$left" ]; then \
  echo "the tests left files in the source tree:"; echo "$$left"; exit 1; fi
SOURCES = $$(find include src cli tests bench examples -name '*.[ch]' 2>/dev/null)

.PHONY: all bootstrap configure configure-asan demo test test-all test-long bench install wheel docs deb format format-check lint clean

all: configure
	@cmake --build build -j $(JOBS) --target program

# says what is missing, and asks on a terminal; tools of the tests only for those
bootstrap:
	@scripts/bootstrap $(if $(filter test-long,$(MAKECMDGOALS)),long,$(if $(filter test-all lint,$(MAKECMDGOALS)),all,$(if \
	  $(filter test,$(MAKECMDGOALS)),tests)))

configure: bootstrap
	@scripts/configure release -DMBG_WERROR=$(WERROR) -DCMAKE_INSTALL_PREFIX="$(PREFIX)"

configure-asan: bootstrap
	@scripts/configure asan -DMBG_WERROR=$(WERROR) -DMBG_COMPLEX_FROM="$(CURDIR)/build"

demo: all
	@echo '$$ mbgrad gradient quarter-car --criteria psi0,psiL,F1'
	@build/mbgrad gradient quarter-car --criteria psi0,psiL,F1
	@echo; echo '$$ mbgrad check quarter-car --gradient --criteria psi0,psiL,F1'
	@build/mbgrad check quarter-car --gradient --criteria psi0,psiL,F1

# every unit, every message, the gallery, each command, Python's essentials; the parts that read files under sanitizers, too.
# Fails when the tests leave new files in the source tree.
test: configure configure-asan
	@cmake --build build -j $(JOBS) --target quick
	@cmake --build build/asan -j $(JOBS) --target quick
	@$(UNTRACKED) >build/untracked || true
	@$(CTEST) --test-dir build -L quick
	@$(CTEST) --test-dir build/asan -L quick
	@$(LEFT_FILES)

# the suite twice: optimized, and with sanitizers and asserts
test-all: configure configure-asan
	@cmake --build build -j $(JOBS)
	@cmake --build build/asan -j $(JOBS)
	@$(UNTRACKED) >build/untracked || true
	@$(CTEST) --test-dir build -L fast
	@$(CTEST) --test-dir build/asan -L fast
	@$(LEFT_FILES)

# more seeds, long tests, fuzzing under the sanitizers
test-long: configure configure-asan
	@cmake --build build -j $(JOBS)
	@cmake --build build/asan -j $(JOBS)
	@MBG_TEST_LONG=1 $(CTEST) --timeout 7200 --test-dir build -E '^fuzz\.'
	@MBG_TEST_LONG=1 $(CTEST) --timeout 7200 --test-dir build/asan -R '^fuzz\.'

bench: all
	@cmake --build build -j $(JOBS) --target bench
	@if [ -x bench/run ]; then bench/run build/bench; \
	else for program in build/bench/*; do if [ -x "$$program" ]; then echo "== $$program"; "$$program" || exit 1; fi; done; fi

# the Python package as a wheel with its libraries, tried in fresh environments
wheel: bootstrap
	@scripts/wheel

# Debian packages: build/deb/*.deb
deb: bootstrap
	@scripts/deb

# the pages as a web site, build/site; a dead link stops it. MkDocs goes into an environment of its own
docs:
	@[ -x build/docs-venv/bin/mkdocs ] || { python3 -m venv build/docs-venv && \
	  build/docs-venv/bin/pip -q --disable-pip-version-check install -r docs/requirements.txt; }
	@build/docs-venv/bin/python tools/site build/site
	@echo "build/site/index.html"

# into a folder of the system: programs find the new library at once
install: all
	@cmake --install build
	@if [ "$$(id -u)" = 0 ] && [ -z "$$DESTDIR" ] && [ -x /sbin/ldconfig ]; then /sbin/ldconfig; fi

format:
	@$(CLANG_FORMAT) -i $(SOURCES)

format-check:
	@bad=; for file in $(SOURCES); do \
	  $(CLANG_FORMAT) --dry-run -Werror $$file 2>/dev/null || { echo "$$file: not formatted"; bad=1; }; done; \
	if [ -n "$$bad" ]; then echo "run make format"; exit 1; fi

lint: all
	@tools/lint build
	@if command -v node >/dev/null; then node tools/web-page --check; \
	else echo "web/dist/page.html: not checked, node is missing"; fi
	@if [ -x build/venv/bin/ruff ]; then \
	  build/venv/bin/ruff check --cache-dir build/.ruff -q && build/venv/bin/ruff format --cache-dir build/.ruff -q --check && \
	  build/venv/bin/mypy --cache-dir build/.mypy; fi

clean:
	@rm -rf build
