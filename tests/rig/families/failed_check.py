"""A test or build fails: the source was changed, the environment was, what was built is stale, or nothing seen differs."""

from __future__ import annotations

from typing import Any

from tests.rig.scenario import BUILT, RIGHT, SITE, Scenario, commands, truth

_RIVALS = ("source_edit", "environment_change", "stale_artifact", "unobserved")
_TEST = "python3 -B -m unittest tests.test_app"


def _failed(true: str, anchors: list[str], step: str) -> dict[str, Any]:
    return truth("failed_check", true, _RIVALS, anchors, critical_step=step)


_BYTECODE_TEST = "python3 -m unittest tests.test_app"
_SAMPLED = {
    "src/app.py": RIGHT,
    "tests/test_sample.py": (
        "import random\nimport unittest\nfrom src.app import add\n\n\nclass T(unittest.TestCase):\n"
        "    def test_sample(self):\n        self.assertLess(add(random.random(), 0), 0.5)\n"
    ),
}
_SERVED = {
    "src/app.py": RIGHT,
    "Makefile": f"include build.env\ntest:\n\tcurl -sf {SITE}/health && $(PY) -B -m unittest tests.test_app\n",
}
_SETTINGS = "/home/agent/.config/adder/settings.ini"
_CONFIGURED = {
    "src/app.py": RIGHT,
    _SETTINGS: "[adder]\nlimit = 100\n",
    "tests/test_limit.py": (
        "import configparser\nimport os\nimport unittest\nfrom src.app import add\n\n\nclass T(unittest.TestCase):\n"
        "    def test_limit(self):\n        settings = configparser.ConfigParser()\n"
        "        settings.read(os.path.expanduser('~/.config/adder/settings.ini'))\n"
        "        self.assertLess(add(40, 2), settings.getint('adder', 'limit'))\n"
    ),
}
_BUNDLE = {
    "src/app.py": RIGHT,
    "tools/spread.py": (
        "import os\ntext = open('src/app.py').read()\nos.makedirs('build/parts', exist_ok=True)\n"
        "for number in range(400):\n    with open(f'build/parts/{number:03}.py', 'w') as part:\n        part.write(text)\n"
    ),
    "tools/bundle.py": (
        "import os\nparts = sorted(os.listdir('build/parts'))\ntexts = {open(f'build/parts/{name}').read() for name in parts}\n"
        "os.makedirs('dist', exist_ok=True)\nopen('dist/app.py', 'w').write(''.join(texts))\n"
    ),
    "Makefile": (
        "test:\n\tpython3 tools/spread.py && python3 tools/bundle.py && python3 -B -m unittest tests.test_dist\n"
    ),
    "tests/test_dist.py": BUILT["tests/test_dist.py"],
}
_PAGES = {
    **BUILT,
    "tools/pages.py": (
        "import os\nos.makedirs('site', exist_ok=True)\nreadme = open('README.md').read()\n"
        "for number in range(600):\n    open(f'site/{number:03}.html', 'w').write(f'<h1>{number}</h1>{readme}')\n"
    ),
    "tools/index.py": (
        "import os\nnames = sorted(os.listdir('site'))\n"
        "sizes = [len(open(f'site/{name}').read()) for name in names]\n"
        "open('index.txt', 'w').write('\\n'.join(map(str, sizes)))\n"
    ),
}

SCENARIOS = [
    Scenario(
        "codex-check-stale-bytecode",
        "codex",
        "Try the subtraction, then put add back",
        commands(
            _BYTECODE_TEST,
            "sed -i 's/a + b/a - b/' src/app.py && python3 -m compileall -q src",
            "touch -r src/app.py stamp && sed -i 's/a - b/a + b/' src/app.py && touch -r stamp src/app.py && rm stamp",
            _BYTECODE_TEST,
            say="The test fails although src/app.py is as it was.",
        ),
        "failed check",
        "The test passes; then src/app.py gets a wrong edit and is compiled; then the edit is taken back with the file's date "
        "kept, so that Python takes the byte code of the wrong version for current; the same test fails on right source.",
        _failed(
            "stale_artifact",
            [
                "the failing test read src/__pycache__/app.*.pyc and not src/app.py",
                "that byte code was generated from the version of src/app.py before the last",
            ],
            "the third call, which keeps the date",
        ),
        files={"src/app.py": RIGHT},
    ),
    Scenario(
        "codex-check-source-bytecode",
        "codex",
        "Try the other order, then simplify add",
        commands(
            _BYTECODE_TEST,
            "sed -i 's/a + b/b + a/' src/app.py && python3 -m compileall -q src",
            "sleep 1.1 && touch stamp && sed -i 's/b + a/b - a/' src/app.py && touch -r stamp src/app.py && rm stamp",
            _BYTECODE_TEST,
            say="The test fails now.",
        ),
        "failed check",
        "The test passes; then src/app.py gets a harmless edit and is compiled; then it gets a wrong edit, with a later "
        "date, so that Python compiles it again; the same test fails. The mirror of codex-check-stale-bytecode.",
        _failed(
            "source_edit",
            ["the failing test read the last version of src/app.py", "no other input differs"],
            "the third call, which edits src/app.py",
        ),
        files={"src/app.py": RIGHT},
    ),
    Scenario(
        "codex-check-stale-dist",
        "codex",
        "Try the subtraction, then restore add",
        commands(
            "make test",
            "cp -p src/app.py src/app.py.orig && sed -i 's/a + b/a - b/' src/app.py && make dist/app.py",
            "cp -p src/app.py.orig src/app.py",
            "make test",
            say="The test fails although the source is restored.",
        ),
        "failed check",
        "The test of dist/app.py passes; then src/app.py gets a wrong edit and dist/app.py is built of it; then `cp -p` "
        "restores the source with its old date, so that make takes dist/app.py for up to date; the same test fails.",
        _failed(
            "stale_artifact",
            [
                "the failing test read dist/app.py, generated from a version of src/app.py that is not the last",
                "no process of the failing check read src/app.py",
            ],
            "the third call, `cp -p`",
        ),
        files=BUILT,
    ),
    Scenario(
        "codex-check-source-dist",
        "codex",
        "Try the other order, then simplify add",
        commands(
            "make test",
            "cp -p src/app.py src/app.py.orig && sed -i 's/a + b/b + a/' src/app.py && make dist/app.py",
            "sleep 0.1; sed -i 's/b + a/b - a/' src/app.py",
            "make test",
            say="The test fails now.",
        ),
        "failed check",
        "The test of dist/app.py passes; then src/app.py gets a harmless edit and dist/app.py is built of it; then a wrong "
        "edit; the same test builds dist/app.py anew and fails. The mirror of codex-check-stale-dist.",
        _failed(
            "source_edit",
            ["dist/app.py was generated from the last version of src/app.py within the failing check"],
            "the third call, which edits src/app.py",
        ),
        files=BUILT,
    ),
    Scenario(
        "codex-check-flaky-random",
        "codex",
        "Note that the sample was tested",
        commands(
            "python3 -B -m unittest tests.test_sample",
            "echo 'Sample tested.' >> NOTES.md",
            "python3 -B -m unittest tests.test_sample",
            say="The sample test fails now.",
        ),
        "failed check",
        "The test draws a random number: it passes, NOTES.md gets a line that the test does not read, and the same test "
        "fails. Nothing that it read differs.",
        _failed("unobserved", ["every input of the failing test has the version that the passing test read"], "none"),
        files=_SAMPLED,
    ),
    Scenario(
        "claude-check-flaky-service",
        "claude",
        "Note the release and test it",
        [
            {"sh": "make test"},
            {"tool": "Write", "args": {"file_path": "{ws}/RELEASE.md", "content": "Release 1\n"}},
            {"sh": "make test"},
            {"say": "The test fails now."},
        ],
        "failed check",
        "The test asks a service on loopback first, which answers 200 and later 503: the same test passes and then fails, "
        "with all files that it reads unchanged.",
        _failed(
            "unobserved",
            ["every file that the failing test read has the version of the passing one", "curl exits with 22"],
            "none",
        ),
        files=_SERVED,
        pages={"/health": [(200, "up\n"), (503, "down\n")]},
    ),
    Scenario(
        "claude-check-environment-home",
        "claude",
        "Lower the limit",
        [
            {"sh": "python3 -B -m unittest tests.test_limit"},
            {"sh": f"sed -i 's/100/10/' {_SETTINGS}"},
            {"tool": "Write", "args": {"file_path": "{ws}/RELEASE.md", "content": "The limit is 10.\n"}},
            {"sh": "python3 -B -m unittest tests.test_limit"},
            {"say": "The test fails now."},
        ],
        "failed check",
        "The test reads a limit from a settings file in the home, outside the workspace; the limit is lowered there; the same "
        "test fails. No source changed.",
        _failed(
            "environment_change",
            [
                "settings.ini version read by the passing and by the failing test",
                "src/app.py version at both (the same)",
            ],
            "the second call, which edits settings.ini",
        ),
        files=_CONFIGURED,
    ),
    Scenario(
        "codex-check-far-source",
        "codex",
        "Rename the arguments",
        commands(
            "make test",
            "sed -i 's/a + b/a - b/' src/app.py",
            "make test",
            say="The test fails now.",
        ),
        "failed check",
        "A wrong edit of src/app.py; then the failing check itself spreads it over 400 files, bundles these into "
        "dist/app.py and only then tests: over a thousand effects lie between the edit and the failure, on the way of the content.",
        _failed(
            "source_edit",
            ["src/app.py version read by tools/spread.py in the passing and in the failing check"],
            "the second call, which edits src/app.py",
        ),
        files=_BUNDLE,
    ),
    Scenario(
        "codex-check-far-environment",
        "codex",
        "Use the isolated interpreter and rebuild the site",
        commands(
            "make test",
            "echo 'PY=python3.99' > build.env",
            "python3 tools/pages.py",
            "python3 tools/index.py && head -2 index.txt",
            "make test",
            say="The test fails now.",
        ),
        "failed check",
        "build.env, which the Makefile includes, is changed to name an interpreter that does not exist; then 600 pages are "
        "written and read; then the same test fails. Over a thousand effects lie between, none of them on the way to the failure.",
        _failed(
            "environment_change",
            ["build.env version read by make in the passing and in the failing check", "src/app.py version (the same)"],
            "the second call, which writes build.env",
        ),
        files=_PAGES,
    ),
]
