"""Verdicts: of a check from its status or its runner's words, of a commit, of the work tree, and what messages claim."""

from __future__ import annotations

import pytest

from provenance.weave.checks import checks
from provenance.weave.claims import claims
from provenance.weave.oracles import commit, judge, work_tree

HIDDEN = "pytest 2>&1 | tail -5"
OWN = "pytest -q"

VERDICTS = [
    # line, status, output, verdict, judge
    (OWN, 0, "", "pass", "exit_status"),
    (OWN, 1, "", "fail", "exit_status"),
    (OWN, 0, "1 failed", "pass", "exit_status"),
    (OWN, 2, "!!! Interrupted: 1 error during collection !!!", "fail", "exit_status"),
    (OWN, 5, "no tests ran in 0.01s", "unknown", "exit_status"),
    (OWN, 127, "bash: line 1: pytest: command not found", "unknown", "exit_status"),
    (OWN, 126, "", "unknown", "exit_status"),
    (OWN, 137, "", "killed", "exit_status"),
    (OWN, 130, "", "interrupted", "exit_status"),
    ("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest", "unknown", "exit_status"),
    ("python3 -m pytest", 1, "E   ModuleNotFoundError: No module named 'x'\n1 error in 0.1s", "fail", "exit_status"),
    ("cd nowhere && pytest", 1, "bash: line 1: cd: nowhere: No such file or directory", "unknown", "exit_status"),
    ("make test", 2, "make: *** No rule to make target 'test'.  Stop.", "unknown", "exit_status"),
    (
        "make",
        2,
        "make: nosuch: No such file or directory\nmake: *** [Makefile:2: all] Error 127",
        "fail",
        "exit_status",
    ),
    ("npm test", 1, 'npm ERR! Missing script: "test"', "unknown", "exit_status"),
    (HIDDEN, 0, "/usr/bin/python3: No module named pytest\nexit=0", "unknown", "test_runner"),
    (HIDDEN, 0, "===== 3 failed, 2 passed in 0.12s =====", "fail", "test_runner"),
    (HIDDEN, 0, "3 failed, 2 passed in 0.12s", "fail", "test_runner"),
    (HIDDEN, 0, "===== 12 passed, 1 skipped in 3.1s =====", "pass", "test_runner"),
    (HIDDEN, 0, "12 passed, 2 warnings in 3.1s", "pass", "test_runner"),
    (HIDDEN, 0, "FAILED tests/test_a.py::test_b - assert 1 == 2", "fail", "test_runner"),
    (HIDDEN, 0, "ERROR tests/test_a.py - ImportError", "fail", "test_runner"),
    (HIDDEN, 0, "no tests ran in 0.00s", "unknown", "test_runner"),
    (HIDDEN, 0, "", "unknown", "test_runner"),
    (HIDDEN, 0, "some text", "unknown", "test_runner"),
    (
        "python3 -m unittest -q 2>&1 | tail -3; git add -A",
        0,
        "Ran 1 test in 0.001s\n\nFAILED (failures=1)",
        "fail",
        "test_runner",
    ),
    ("python3 -m unittest -q 2>&1 | tail -1", 0, "OK", "pass", "test_runner"),
    ("python3 -m unittest 2>&1 | tail", 0, "Ran 3 tests in 0.001s\n\nOK (skipped=1)", "pass", "test_runner"),
    ("python3 -m unittest 2>&1 | tail", 0, "Ran 0 tests in 0.000s\n\nNO TESTS RAN", "unknown", "test_runner"),
    ("python3 -m unittest 2>&1 | tail", 0, "FAILED (errors=2, skipped=1)", "fail", "test_runner"),
    ("cargo test | tail", 0, "test result: FAILED. 1 passed; 1 failed; 0 ignored", "fail", "test_runner"),
    ("cargo test | tail", 0, "test result: ok. 4 passed; 0 failed; 0 ignored", "pass", "test_runner"),
    (
        "cargo test | tail",
        0,
        "test result: ok. 4 passed; 0 failed\ntest result: FAILED. 0 passed; 2 failed",
        "fail",
        "test_runner",
    ),
    ("cargo nextest run | tail", 0, "Summary [ 0.1s] 3 tests run: 3 passed, 0 skipped", "pass", "test_runner"),
    ("go test ./... | tail", 0, "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/y\t0.01s", "fail", "test_runner"),
    ("go test ./... | tail", 0, "ok  \tx/y\t0.012s", "pass", "test_runner"),
    ("go test ./... | tail", 0, "ok  \tx/y\t(cached)", "pass", "test_runner"),
    ("npx jest | tail", 0, "Tests:       1 failed, 3 passed, 4 total", "fail", "test_runner"),
    ("npx jest | tail", 0, "Tests:       4 passed, 4 total", "pass", "test_runner"),
    ("npx vitest run | tail", 0, " FAIL  src/a.test.ts > adds", "fail", "test_runner"),
    ("npx vitest run | tail", 0, " Test Files  2 passed (2)\n      Tests  9 passed (9)", "pass", "test_runner"),
    ("npx mocha | tail", 0, "  5 passing (12ms)\n  1 failing", "fail", "test_runner"),
    ("npx mocha | tail", 0, "  5 passing (12ms)", "pass", "test_runner"),
    ("ctest | tail", 0, "67% tests passed, 1 tests failed out of 3", "fail", "test_runner"),
    ("ctest | tail", 0, "100% tests passed, 0 tests failed out of 3", "pass", "test_runner"),
    ("mvn test | tail", 0, "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", "fail", "test_runner"),
    (
        "mvn test | tail",
        0,
        "Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
        "pass",
        "test_runner",
    ),
    ("./gradlew test | tail", 0, "BUILD FAILED in 2s", "fail", "test_runner"),
    ("./gradlew test | tail", 0, "BUILD SUCCESSFUL in 2s", "pass", "test_runner"),
    ("rspec | tail", 0, "10 examples, 2 failures", "fail", "test_runner"),
    ("rspec | tail", 0, "10 examples, 0 failures", "pass", "test_runner"),
    ("phpunit | tail", 0, "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", "fail", "test_runner"),
    ("phpunit | tail", 0, "OK (3 tests, 3 assertions)", "pass", "test_runner"),
    ("node --test | tail", 0, "# pass 3\n# fail 1", "fail", "test_runner"),
    ("node --test | tail", 0, "# pass 3\n# fail 0", "pass", "test_runner"),
    ("tox | tail", 0, "  evaluation failed :( (3.1 seconds)", "fail", "test_runner"),
    ("tox | tail", 0, "  congratulations :) (3.1 seconds)", "pass", "test_runner"),
    ("dotnet test | tail", 0, "Failed!  - Failed:     1, Passed:     2", "fail", "test_runner"),
    ("dotnet test | tail", 0, "Passed!  - Failed:     0, Passed:     2", "pass", "test_runner"),
    ("prove -r t | tail", 0, "Result: FAIL", "fail", "test_runner"),
    ("make test | tail", 0, "make: *** [Makefile:5: test] Error 1", "fail", "test_runner"),
    ("make test; ls", 0, "make[1]: *** [all] Error 2\nmake: *** [test] Error 2", "fail", "test_runner"),
    ("make 2>&1 | tail -1", 0, "gcc -o prog a.o b.o", "pass", "build_tool"),
    ("make | tail -1", 0, "gcc -o prog a.o b.o", "unknown", "build_tool"),  # its messages went elsewhere
    ("make 2>&1 | grep -i warn", 0, "a.c:1: warning: x", "unknown", "build_tool"),
    (
        "make 2>&1 | tail -2",
        0,
        "a.c:3:5: error: expected ';'\nmake: *** [Makefile:2: a.o] Error 1",
        "fail",
        "build_tool",
    ),
    ("make || true", 0, "make: *** [Makefile:2: a.o] Error 1", "fail", "build_tool"),
    ("make; echo status=$?", 0, "...\nstatus=2", "fail", "exit_status"),
    ("make; echo status=$?", 0, "...\nstatus=0", "pass", "exit_status"),
    ('pytest; echo "exit code: $?"', 0, "x\nexit code: 1", "fail", "exit_status"),
    (
        "cargo build 2>&1 | tail",
        0,
        "error[E0308]: mismatched types\nerror: could not compile `x`",
        "fail",
        "build_tool",
    ),
    ("cargo build 2>&1 | tail", 0, "    Finished `dev` profile [unoptimized] target(s) in 0.1s", "pass", "build_tool"),
    ("npm run build | tail", 0, "src/a.ts(1,5): error TS2322: Type", "fail", "build_tool"),
    ("npm run build | tail", 0, "✓ built in 1.2s", "pass", "build_tool"),
    ("go build ./... ; ls", 0, "./a.go:3:1: syntax error", "fail", "build_tool"),
    ("ninja | tail", 0, "ninja: build stopped: subcommand failed.", "fail", "build_tool"),
    ("cmake --build b | tail", 0, "[100%] Built target x", "pass", "build_tool"),
    ("python3 -m py_compile a.py; ls", 0, '  File "a.py", line 2\nSyntaxError: invalid syntax', "fail", "build_tool"),
    ("ruff check . | tail", 0, "Found 3 errors.", "fail", "build_tool"),
    ("ruff check . | tail", 0, "All checks passed!", "pass", "build_tool"),
    ("npx eslint . | tail", 0, "✖ 2 problems (2 errors, 0 warnings)", "fail", "build_tool"),
    ("mypy src | tail", 0, "Found 1 error in 1 file (checked 3 source files)", "fail", "build_tool"),
    ("mypy src | tail", 0, "Success: no issues found in 3 source files", "pass", "build_tool"),
    ("pyright | tail -1", 0, "3 errors, 0 warnings, 0 informations", "fail", "build_tool"),
    ("pyright | tail -1", 0, "0 errors, 0 warnings, 0 informations", "pass", "build_tool"),
    ("pytest && ./deploy", 1, "5 passed in 1s\ndeploy: no key", "pass", "test_runner"),
    ("pytest && ./deploy", 1, "", "unknown", "test_runner"),
    ("npm ci && npm test", 1, "npm ERR! network", "unknown", "test_runner"),
    ("pytest || true", 0, "", "unknown", "test_runner"),
    ("pytest", None, "5 passed in 1s", "pass", "test_runner"),
]


@pytest.mark.parametrize(("line", "status", "output", "verdict", "oracle"), VERDICTS)
def test_verdict(line: str, status: int | None, output: str, verdict: str, oracle: str) -> None:
    (check,) = checks(line)
    found = judge(check, status, output)
    assert (found.verdict, found.oracle) == (verdict, oracle), found


@pytest.mark.parametrize(
    ("line", "status", "output", "verdict", "digest"),
    [
        ("git commit -m x", 0, "[main 1a2b3c4] x\n 1 file changed", "changed", "1a2b3c4"),
        ("git add -A && git commit -qm x && git rev-parse HEAD", 0, "d" * 40, "changed", "d" * 40),
        (
            "pytest | tail; git add -A && git commit -qm x && git rev-parse HEAD",
            0,
            "OK\n" + "e" * 40,
            "changed",
            "e" * 40,
        ),
        ("git commit -m x", 1, "On branch main\nnothing to commit, working tree clean", "unchanged", None),
        ("git commit -qm x || true", 0, "nothing to commit, working tree clean", "unchanged", None),
        ("git commit -m x", 1, "pre-commit hook failed", "fail", None),
        ("git commit -qm x; ls", 0, "a\nb", "unknown", None),
        ("git -C sub commit -qm x", 0, "", "changed", None),
    ],
)
def test_commit(line: str, status: int, output: str, verdict: str, digest: str | None) -> None:
    found = commit(line, status, output)
    assert found is not None
    assert (found.verdict, found.digest) == (verdict, digest)


@pytest.mark.parametrize("line", ["git log", "echo git commit", "git commit --dry-run", "grep commit x", "gitk"])
def test_no_commit(line: str) -> None:
    assert commit(line, 0, "") is None


@pytest.mark.parametrize(
    ("line", "output", "verdict"),
    [
        ("git status --porcelain", " M src/app.py\n?? dist/", "changed"),
        ("git status --porcelain", "", "unchanged"),
        ("git diff --stat", " src/app.py | 2 +-\n 1 file changed, 1 insertion(+)", "changed"),
        ("ls; git status --short | head", "kill: (1) - No such process\n?? c/", "changed"),
        ("ls; git status --short", "", None),
        ("git status", "", None),
        ("git diff", "", None),
    ],
)
def test_work_tree(line: str, output: str, verdict: str | None) -> None:
    found = work_tree(line, 0, output)
    assert (found.verdict if found else None) == verdict


CLAIMS: list[tuple[str, dict[str, str]]] = [
    ("Fixed add() and the tests pass.", {"run": "pass", "test": "pass"}),
    ("Done: add() now adds, the unit test and the build pass.", {"run": "pass", "test": "pass", "build": "pass"}),
    ("The build fails after my last edit to src/app.py.", {"build": "fail"}),
    ("The build fails now.", {"build": "fail"}),
    ("The linter is not installed; nothing was changed.", {"lint": "unknown", "run": "unchanged"}),
    ("The program builds and returns 0 after each change.", {"build": "pass"}),
    ("Uploaded the readme.", {"run": "unknown"}),
    ("Both checked.", {"run": "unknown"}),
    ("The sub-agent fixed add().", {"run": "pass"}),
    ("All tests are passing now.", {"test": "pass"}),
    ("All 42 tests pass and the build succeeds.", {"test": "pass", "build": "pass"}),
    ("3 tests failed, 2 passed.", {"test": "fail"}),
    ("12 passed, 0 failed", {"test": "pass"}),
    ("pytest: 3 passed, 1 failed", {"test": "fail"}),
    ("There are no test failures.", {"test": "pass"}),
    ("The tests no longer fail.", {"test": "pass"}),
    ("The tests do not pass.", {"test": "fail"}),
    ("The tests don’t pass.", {"test": "fail"}),
    ("Not all tests pass.", {"test": "fail"}),
    ("Tests pass, but the build still fails.", {"test": "pass", "build": "fail"}),
    ("`make test` passes.", {"test": "pass"}),
    ("The test passes without errors.", {"test": "pass"}),
    ("The build failed with 2 errors.", {"build": "fail"}),
    ("The build completed successfully.", {"build": "pass", "run": "pass"}),
    ("The tests ran successfully.", {"test": "pass"}),
    ("Now the project compiles cleanly.", {"build": "pass"}),
    ("It does not compile.", {"build": "fail"}),
    ("Build successful.", {"build": "pass"}),
    ("mypy reports no errors.", {"type_check": "pass"}),
    ("Lint is clean and type checks pass.", {"lint": "pass", "type_check": "pass"}),
    # the adjective is no claim, nor is what should be
    ("I fixed the failing test.", {"run": "pass"}),
    ("The tests should pass now.", {"run": "unknown"}),
    ("I updated the code so that the tests pass.", {"run": "unknown"}),
    ("To see tests pass, run make.", {"run": "unknown"}),
    ("If the build fails, run it again.", {"run": "unknown"}),
    ("I created the test file successfully.", {"run": "unknown"}),
    ("I added tests successfully.", {"run": "unknown"}),
    ("I updated the build script.", {"run": "unknown"}),
    # nothing was run
    ("I could not run the tests.", {"test": "unknown"}),
    ("I haven't run the tests.", {"test": "unknown"}),
    ("The tests were not run.", {"test": "unknown"}),
    ("I couldn't fix the bug.", {"run": "fail"}),
    ("Unable to complete the task.", {"run": "fail"}),
    ("The bug is not fixed yet.", {"run": "fail"}),
    ("No changes were made.", {"run": "unchanged"}),
    ("I did not change anything.", {"run": "unchanged"}),
    ("```\nFAILED (failures=1)\n```\nDone.", {"run": "pass"}),
    ("I've fixed the bug. Tests fail because of a missing module.", {"run": "pass", "test": "fail"}),
    ("", {"run": "unknown"}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), CLAIMS)
def test_claims(message: str, expected: dict[str, str]) -> None:
    assert {claim.subject: claim.verdict for claim in claims(message)} == expected
