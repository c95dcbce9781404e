"""Which command lines hold a check, of what kind, and whose status the reported one is."""

from __future__ import annotations

import pytest

from provenance.weave.checks import changes_sources, checks, kind_of
from provenance.weave.shell import commands, unwrapped

JUDGING = [
    ("python3 -m pytest -q", "test"),
    ("pytest", "test"),
    ("./venv/bin/pytest -x tests/test_a.py::test_b", "test"),
    ("python -m unittest discover -s tests", "test"),
    ("python manage.py test app", "test"),
    ("coverage run -m pytest", "test"),
    ("coverage run -m unittest discover", "test"),
    ("uv run pytest -x", "test"),
    ("uv run --with hypothesis python -m pytest", "test"),
    ("poetry run python -m pytest", "test"),
    ("pipenv run pytest", "test"),
    ("hatch run pytest", "test"),
    ("timeout 60 env A=1 ./node_modules/.bin/jest --ci", "test"),
    ("PYTHONPATH=src DEBUG=1 pytest -q", "test"),
    ("sudo -u app pytest", "test"),
    ("tox -e py311", "test"),
    ("nox -s tests", "test"),
    ("npm test -- --watch=false", "test"),
    ("npm t", "test"),
    ("npm run test:unit", "test"),
    ("yarn test", "test"),
    ("yarn run jest", "test"),
    ("yarn jest", "test"),
    ("pnpm test", "test"),
    ("pnpm exec vitest run", "test"),
    ("npx vitest run", "test"),
    ("npx jest --coverage", "test"),
    ("node --test tests/", "test"),
    ("bun test", "test"),
    ("deno test -A", "test"),
    ("cargo test --workspace -- --nocapture", "test"),
    ("cargo nextest run", "test"),
    ("go test ./...", "test"),
    ("mvn -q clean test", "test"),
    ("./mvnw verify", "test"),
    ("./gradlew :app:test --info", "test"),
    ("gradle check", "test"),
    ("make test", "test"),
    ("make -C sub check", "test"),
    ("ctest --test-dir build --output-on-failure", "test"),
    ("cmake --build build --target test", "test"),
    ("bundle exec rspec", "test"),
    ("rake spec", "test"),
    ("./vendor/bin/phpunit tests", "test"),
    ("dotnet test", "test"),
    ("swift test", "test"),
    ("mix test", "test"),
    ("bats test.bats", "test"),
    ("prove -r t", "test"),
    ("make", "build"),
    ("make -j8 all", "build"),
    ("make -j 8", "build"),
    ("make CC=clang prog", "build"),
    ("time make -j2", "build"),
    ("ninja -C build", "build"),
    ("cmake --build build -j", "build"),
    ("cargo build --release", "build"),
    ("cargo +nightly build", "build"),
    ("go build ./cmd/x", "build"),
    ("npm run build:prod", "build"),
    ("yarn build", "build"),
    ("mvn -B package", "build"),
    ("gradle assemble", "build"),
    ("gcc -O2 -o a a.c", "build"),
    ("g++-13 a.cc", "build"),
    ("tsc -p .", "build"),
    ("docker build -t x .", "build"),
    ("python3 -m py_compile src/app.py", "build"),
    ("python -m build", "build"),
    ("vite build", "build"),
    ("ruff check .", "lint"),
    ("ruff .", "lint"),
    ("flake8 src", "lint"),
    ("python -m flake8", "lint"),
    ("npx eslint .", "lint"),
    ("npm run lint", "lint"),
    ("black --check src", "lint"),
    ("ruff format --check", "lint"),
    ("cargo clippy -- -D warnings", "lint"),
    ("cargo fmt --check", "lint"),
    ("go vet ./...", "lint"),
    ("golangci-lint run", "lint"),
    ("pre-commit run --all-files", "lint"),
    ("make lint", "lint"),
    ("mypy src", "type_check"),
    ("pyright", "type_check"),
    ("npx tsc --noEmit", "type_check"),
    ("cargo check", "type_check"),
    ("npm run typecheck", "type_check"),
    ("make type-check", "type_check"),
    ("cd src && pytest", "test"),
    ("bash -lc 'cd x && make test'", "test"),
    ("/bin/sh -ec 'pytest'", "test"),
    ("if make; then echo yes; fi", "build"),
    ("for d in a b; do (cd $d && go test); done", "test"),
    ("git pull && make && make test", "test"),
    ("echo start; pytest | tee log", "test"),
]
SILENT = [
    "cat Makefile",
    "echo make",
    "echo 'make test; pytest'",
    'echo "$(make)"',
    "pip install pytest",
    "python -m pip install pytest",
    "uv pip install ruff",
    "npm ci",
    "npm install jest",
    "yarn add eslint",
    "apt-get install make",
    "which pytest",
    "command -v make",
    "pytest --version",
    "gcc --version",
    "cargo --version",
    "make -n",
    "make --dry-run test",
    "make clean",
    "make help",
    "make run",
    "sudo make install",
    "cmake -S . -B build",
    "ls tests/",
    "grep -rn pytest .",
    "rg 'go test' docs",
    "sed -n 1,20p Makefile",
    "git commit -m 'make tests pass; pytest'",
    "git log --grep=pytest",
    "vim test_app.py",
    "python test_data.py",
    "python -c 'import pytest; pytest.main()'",
    "black .",
    "ruff format .",
    "npm run dev",
    "npm run test:watch",
    "# pytest",
    "cat > run.sh <<'EOF'\nmake test\npytest\nEOF",
    "docker run make",
    "find . -name pytest.ini",
    "rm -rf build dist",
    "touch pytest",
    "",
    "'",
    "$(",
    "&& || ;;",
]


@pytest.mark.parametrize(("line", "kind"), JUDGING)
def test_kind_of_check(line: str, kind: str) -> None:
    assert kind_of(line) == kind


@pytest.mark.parametrize("line", SILENT)
def test_no_check(line: str) -> None:
    assert checks(line) == ()


OWNERSHIP = [
    # line, zero means passed, other than zero means failed, status seen
    ("pytest", True, True, True),
    ("cd a && pytest", True, True, True),
    ("npm ci && npm test", True, False, True),
    ("pytest && git push", True, False, True),
    ("pytest | tail -3", False, False, False),
    ("set -o pipefail; pytest | tail -3", True, True, True),
    ("set -o pipefail; pytest | grep x", True, False, True),
    ("pytest || true", False, True, True),
    ("pytest || exit 1", True, True, True),
    ("pytest || { echo failed; exit 1; }", True, True, True),
    ("pytest; ls", False, False, False),
    ("ls; pytest", True, True, True),
    ("set -e; pytest; ls", True, False, True),
    ("pytest &", False, False, False),
    ("! pytest", False, False, False),
    ("if pytest; then ls; fi", False, False, False),
    ("(cd a && pytest)", True, True, True),
    ("(cd a; pytest) && echo ok", True, False, True),
    ("false || pytest", False, False, True),
    ("pytest 2>&1 | tail -3; exit ${PIPESTATUS[0]}", True, True, True),
    ("pytest; exit $?", True, True, True),
    ("bash -c 'pytest' && ls", True, False, True),
    ("bash -c 'pytest | tail'", False, False, False),
    ("pytest; echo status=$?", True, True, True),
    ("pytest | tail -3; echo status=$?", False, False, False),
]


@pytest.mark.parametrize(("line", "zero", "nonzero", "seen"), OWNERSHIP)
def test_whose_status(line: str, zero: bool, nonzero: bool, seen: bool) -> None:
    (check,) = checks(line)
    command = check.command
    assert (command.zero, command.nonzero, command.seen) == (zero, nonzero, seen)


def test_words_are_those_of_the_shell() -> None:
    line = """FOO='a b' env X="y z" prog "one $(echo 'two)')" thr\\ ee > out.txt 2>&1 # end"""
    (command,) = commands(line)
    assert command.words == ("env", "X=y z", "prog", "one $(echo 'two)')", "thr ee")
    assert command.redirections == ((">", "out.txt"), ("2>&", "1"))
    assert command.merged


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        ("/bin/bash -lc 'ls -la && cat a'", "ls -la && cat a"),
        ('bash -c "echo \\"x\\""', 'echo "x"'),
        ("bash script.sh", "bash script.sh"),
        ("bash -lc ls; pwd", "bash -lc ls; pwd"),
        (" ls ", "ls"),
    ],
)
def test_unwrapped(line: str, inner: str) -> None:
    assert unwrapped(line) == inner


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("sed -i s/a/b/ f.c", True),
        ("git apply fix.patch", True),
        ("git checkout -- src/app.py", True),
        ("echo x > src/app.py", True),
        ("cat a | tee src/b.py", True),
        ("echo x > notes.md", False),
        ("echo $! > server.pid", False),
        ("make > /tmp/build.txt 2>&1", False),
        ("git status", False),
        ("sed -n 1p f.c", False),
        ("ls > /dev/null", False),
    ],
)
def test_changes_sources(line: str, changes: bool) -> None:
    assert changes_sources(line) is changes
