"""What an agent's last words claim, by phrase rules.

A message is read clause by clause. A claim needs a subject ("tests", "the build") and a predicate ("pass", "fails") in
one clause, in the indicative: what should, would or might pass is no claim, and "the failing test" is not one either.
Where no rule applies the claim is `unknown` and the statement is kept: silence is not success.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

VERSION = "claims/1"
LENGTH = 300
"""Characters of a statement that are kept."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claimed verdict."""

    subject: str  # run, test, build, lint, type_check
    verdict: str  # pass, fail, unchanged, unknown
    statement: str
    confidence: float = 0.9
    rule: str = "phrase"


_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|\n+|;|,?\s+(?:but|however|although|though|whereas|while|yet)\s+", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:should|would|will|might|may|ought|hopefully|probably|likely|presumably|if|once|until|unless|when(?:ever)?|whether|"
    r"so that|in order|to (?:make|get|let|have|see|ensure|verify|check)|expect(?:ed|s)?|(?:please|you can|try to|need to) (?:run|check)|"
    r"want(?:s|ed)?|make sure|next step)\b",
    re.IGNORECASE,
)
_NOT_RUN = re.compile(
    r"\b(?:(?:did|do|have|has|was|were|could|can)(?: ?not|n[’']t)|cannot|unable to|without|not|never)"
    r"(?: \w+){0,2}? (?:run(?:ning)?|execut(?:ed?|ing)|verif(?:y|ied|ying)|test(?:ed)?|check(?:ed)?|installed|available|found)\b",
    re.IGNORECASE,
)
_SUBJECTS = (
    ("type_check", r"type[- ]?check(?:s|er|ing)?|typing|mypy|pyright|tsc"),
    ("lint", r"lint(?:s|er|ers|ing)?|ruff|flake8|eslint|pylint|clippy|format(?:ting)? check"),
    ("test", r"(?:unit|integration|e2e|regression)?[- ]?tests?(?: suites?| cases?| runs?)?|specs?|pytest|unittest|jest|vitest|test suite"),
    ("build", r"builds?|compilation|build step"),
)  # fmt: skip
_ADJECTIVE = re.compile(
    r"\b(?:failing|broken|failed|passing|red|green|erroring|flaky) (?:\w+[- ])?(?:tests?|builds?|specs?|checks?|lint\w*|suite|case|code|commit)\b",
    re.IGNORECASE,
)
_THING = r"(?! (?:files?|data|fixtures?|coverage|director(?:y|ies)|folders?|class(?:es)?|functions?|helpers?|scripts?|commands?|config\w*|plan|deps|dependencies|system|settings|targets?)\b)"
_SUBJECT = re.compile("|".join(rf"\b(?P<{name}>{pattern})\b{_THING}" for name, pattern in _SUBJECTS), re.IGNORECASE)
_NEGATED = r"(?:do(?:es)?|did|is|are|was|were|has|have|can|could|wo|will)(?: ?not|n[’']t|n[’']?t)(?: \w+)?|cannot|never|no longer|not(?: \w+)?|fail(?:s|ed)? to"
_PREDICATE = re.compile(
    rf"(?P<no_failure>\b(?:no|zero|0|without(?: any)?) (?:test |build |lint |type |compile |compilation )?(?:failures?|errors?|failed|failing|issues|problems|warnings)\b|\bno longer fail(?:s|ing)?\b)"
    rf"|(?P<not_pass>\b(?:{_NEGATED}) (?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|work(?:s|ing)?|clean|compile[sd]?|buil[dt])\b|\bnot all\b)"
    r"|(?P<fails>\bfail(?:s|ed|ing|ures?)?\b|\berror(?:s|ed)\b|\bbroken\b|\bbreaks?\b|\b[1-9]\d* (?:failures?|errors?)\b|\bcrash(?:es|ed)?\b)"
    r"|(?P<passes>\bpass(?:es|ed|ing)?\b|\bsucceed(?:s|ed)?\b|\bsuccess(?:ful)?\b|\b(?:runs?|ran|completed?s?|finish(?:ed|es)?|execut(?:ed|es)|built|compiled) successfully\b|\bgreen\b|\bworks?\b|\bclean(?:ly)?\b|\bis (?:ok|fine)\b|\bare (?:ok|fine)\b)",
    re.IGNORECASE,
)
_BUILD_VERB = re.compile(
    r"(?P<not>\b(?:(?:does|do|did|is|would)(?: ?not|n[’']t)|cannot|can[’']t|won[’']t|fail(?:s|ed)? to)) (?:yet )?(?:compile|build)\b"
    r"|\b(?:builds|compiles)\b(?! (?:fail|error|are\b|is\b|were\b|break|pass|succeed|step))|\b(?:built|compiled) (?:successfully|cleanly|without (?:any )?(?:errors?|warnings?|problems))",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"\b(?:nothing (?:was|has been|is|were) (?:changed|modified|done|edited)|nothing changed|no (?:files?|code|changes?) (?:was|were|has been|have been|is|are|got) (?:made|changed|modified|needed|necessary|required)|"
    r"(?:made|makes?) no changes?|(?:did|have|has)(?: ?not|n[’']t) (?:changed?|modif(?:y|ied)|touch(?:ed)?|edit(?:ed)?|make|made)(?: \w+)? ?(?:anything|any(?: \w+)?|files?|code|changes?)|no changes? (?:needed|necessary|required|made))\b",
    re.IGNORECASE,
)
_RUN_FAIL = re.compile(
    r"\b(?:could(?: ?not|n[’']t)|(?:was|am|were|is|are) (?:not able|unable) to|unable to|cannot|can[’']t|failed to|(?:did|do)(?: ?not|n[’']t) (?:manage|succeed)|gave up|giving up|"
    r"(?:not|isn[’']t|wasn[’']t|hasn[’']t been|never) (?:yet |been |fully |completely )*(?:fixed|resolved|done|completed|finished|implemented)|still (?:fails?|failing|broken))\b",
    re.IGNORECASE,
)
_RUN_PASS = re.compile(r"\b(?:fixed|resolved|done|completed|implemented|finished|solved|repaired)\b", re.IGNORECASE)


def claims(text: str) -> tuple[Claim, ...]:
    """The claims of a final message, at most one a subject: of several the one that is said last, a failure first."""
    text = _FENCE.sub(" ", text).replace("`", "").replace("*", "")
    found: dict[str, Claim] = {}
    for clause in _CLAUSE.split(text):
        statement = " ".join(clause.split())
        if not statement:
            continue
        for subject, verdict in _read(statement):
            before = found.get(subject)
            weaker = (
                before is not None and before.verdict not in ("unknown", verdict) and verdict in ("pass", "unknown")
            )
            if before is None or (verdict != "unknown" and not weaker):
                found[subject] = Claim(subject, verdict, statement[:LENGTH])
    if not found:
        whole = " ".join(text.split())
        return (Claim("run", "unknown", whole[:LENGTH], 0.5, "no phrase"),)
    return tuple(found[subject] for subject in sorted(found))


def _read(clause: str) -> list[tuple[str, str]]:
    """(subject, verdict) of one clause."""
    verdicts: list[tuple[str, str]] = []
    if _UNCHANGED.search(clause):
        verdicts.append(("run", "unchanged"))
    plain = _ADJECTIVE.sub(lambda match: "~" * len(match.group()), clause)
    hedge = _HEDGE.search(plain)
    certain = plain[: hedge.start()] if hedge else plain
    not_run = _NOT_RUN.search(certain)
    if not_run:
        subjects = {match.lastgroup for match in _SUBJECT.finditer(clause)}
        return [
            *verdicts,
            *((subject, "unknown") for subject in sorted(filter(None, subjects))),
            *_run(certain, not_run),
        ]
    verdicts += _subjects(certain)
    build = _BUILD_VERB.search(certain)
    if build and all(subject != "build" for subject, _ in verdicts):
        verdicts.append(("build", "fail" if build.group("not") else "pass"))
    return [*verdicts, *_run(certain, None)]


def _run(clause: str, ignore: re.Match[str] | None) -> list[tuple[str, str]]:
    failed = _RUN_FAIL.search(clause)
    if failed:
        if failed.group().lower().startswith("still") and _SUBJECT.search(clause):
            return []
        return [("run", "fail")] if ignore is None or not _SUBJECT.search(clause) else []
    return [("run", "pass")] if _RUN_PASS.search(clause) and ignore is None else []


def _subjects(clause: str) -> list[tuple[str, str]]:
    """Subjects of a clause with the predicate that comes next after them, or the one before them ("no lint errors")."""
    marks: list[tuple[int, str, str]] = [
        (match.start(), "subject", str(match.lastgroup)) for match in _SUBJECT.finditer(clause)
    ]
    if not marks:
        if re.search(r"\b\d+ (?:passed|failed)\b", clause):
            return [("test", "fail" if re.search(r"\b[1-9]\d* failed\b", clause) else "pass")]
        return []
    marks += [(match.start(), "predicate", str(match.lastgroup)) for match in _PREDICATE.finditer(clause)]
    marks.sort()
    verdicts: dict[str, str] = {}
    waiting: list[str] = []
    last: str | None = None
    for _, kind, value in marks:
        if kind == "subject":
            if last is not None and not waiting and value not in verdicts and last in ("no_failure", "not_pass"):
                verdicts[value] = _verdict(last)
            waiting = [value] if last is not None else [*waiting, value]
            last = None
            continue
        for subject in waiting:
            if verdicts.get(subject) != "fail" or value == "no_failure":
                verdicts[subject] = _verdict(value)
        if value == "not_pass" and not waiting:
            verdicts.update({str(m.lastgroup): "fail" for m in _SUBJECT.finditer(clause)})
            return list(verdicts.items())
        last = value
    return list(verdicts.items())


def _verdict(predicate: str) -> str:
    return "pass" if predicate in ("no_failure", "passes") else "fail"
