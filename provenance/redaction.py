"""Redaction: what must never be kept from a text, found by precise patterns only.

A rule names one kind of secret that can be told by its own form (a vendor's prefix, a header, an assignment to a
variable whose name says so). There is no entropy guessing: a word that merely looks odd is evidence and survives. What
is found is replaced by `[redacted:RULE]`. Digests are always taken of the text before redaction.

Sources of the forms: the vendors' documentation, and the public rule set of gitleaks
(https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

REDACTION_VERSION = 1
"""Raised whenever a rule changes; the redaction policy node carries it."""

_NAME = (
    r"(?:[A-Za-z0-9]*_)*(?:[A-Z0-9]*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY)"
    r"|(?:ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING|MASTER|AUTH)_KEY|(?:DB|USER|SMTP|MYSQL|PG|REDIS|ADMIN|ROOT|FTP)_PASS"
    r"|CREDENTIALS?|[A-Z0-9]+_PWD)"
)
_BARE = r"[^\s\"'`;&|<>(){}\[\],\\$*%]"
_REFERENCE = re.compile(
    r"\[redacted:|[$<*%{]|(?:true|false|none|null|undefined|required|optional|yes|no)\Z|os\.|process\.env|x{3,}\Z|\.{3}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. Group 1 of `pattern`, where it has one, is the secret; else the whole match is."""

    name: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]  # lower-case substrings one of which every match holds: a cheap test first


def _rule(name: str, pattern: str, *hints: str, flags: int = 0) -> Rule:
    return Rule(name, re.compile(pattern, flags), hints)


RULES: tuple[Rule, ...] = (
    _rule(
        "private-key",
        r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|\s){1,8}"
        r"(?:[A-Za-z-]{1,32}: [^\n\\]{0,128}(?:\\[nr]|\s){1,8}){0,4}[A-Za-z0-9+/=]{16,}(?:\\[nr]|[A-Za-z0-9+/=\s])*"
        r"(?:-----END [A-Z0-9 ]{0,64}-----)?",
        "private key",
    ),
    _rule("aws-access-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", "akia", "asia", "abia", "acca"),
    _rule(
        "aws-secret-key",
        r"\baws_?secret_?(?:access_?)?key\b[\\\"']{0,2}\s{0,4}[:=]\s{0,4}[\\\"']{0,2}([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
        "secret",
        flags=re.IGNORECASE,
    ),
    _rule(
        "github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b", "gh", "github_pat_"
    ),
    _rule("gitlab-token", r"\bgl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt)-[A-Za-z0-9_\-]{20,255}", "gl"),
    _rule("slack-token", r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{10,255})", "xox", "xapp-"),
    _rule(
        "slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_]{16,128})", "hooks.slack.com"
    ),
    _rule("anthropic-key", r"\bsk-ant-[A-Za-z0-9_\-]{20,255}", "sk-ant-"),
    _rule("openai-key", r"\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_\-]{20,255}|[A-Za-z0-9]{32,255})\b", "sk-"),
    _rule(
        "stripe-key",
        r"\b(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9]{24,255})\b",
        "_live_",
        "_test_",
        "whsec_",
    ),
    _rule(
        "google-key",
        r"\b(?:AIza[0-9A-Za-z_\-]{35}|GOCSPX-[A-Za-z0-9_\-]{28}|ya29\.[0-9A-Za-z_\-]{20,512})",
        "aiza",
        "gocspx-",
        "ya29.",
    ),
    _rule("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b", "npm_"),
    _rule("pypi-token", r"\bpypi-AgE[A-Za-z0-9_\-]{40,512}", "pypi-age"),
    _rule("huggingface-token", r"\bhf_[A-Za-z0-9]{30,64}\b", "hf_"),
    _rule("sendgrid-key", r"\bSG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}\b", "sg."),
    _rule("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b", "_v1_"),
    _rule("azure-key", r"\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,128})", "accesskey", "accountkey"),
    _rule("jwt", r"\beyJ[A-Za-z0-9_\-]{8,2048}\.eyJ[A-Za-z0-9_\-]{8,8192}\.[A-Za-z0-9_\-]{8,2048}", "eyj"),
    _rule(
        "authorization",
        r"\b(?:proxy-)?authorization[\\\"']{0,2}\s{0,4}[:=]\s{0,4}[\\\"']{0,2}(?:bearer|basic|token|bot)\s{1,4}([A-Za-z0-9._~+/=\-]{8,4096})",
        "authorization",
        flags=re.IGNORECASE,
    ),
    _rule(
        "api-key-header",
        r"\b(?:x-api-key|x-auth-token|private-token|x-goog-api-key)[\\\"']{0,2}\s{0,4}:\s{0,4}[\\\"']{0,2}([A-Za-z0-9._~+/=\-]{12,4096})",
        "x-api-key",
        "x-auth-token",
        "private-token",
        "x-goog-api-key",
        flags=re.IGNORECASE,
    ),
    _rule("url-password", r"\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s/:@\"'<>]{0,256}:([^\s/@\"'<>]{1,256})@", "://"),
    _rule(
        "url-token",
        r"[?&](?:access_token|refresh_token|api_key|apikey|client_secret|auth_token|private_token)=([A-Za-z0-9._~%+/\-]{12,2048})",
        "_token=",
        "api_key=",
        "apikey=",
        "client_secret=",
        flags=re.IGNORECASE,
    ),
    # NAME_TOKEN=value, "NAME_TOKEN": "value", and `NAME_TOKEN: value` alone on a line; the name in capitals.
    _rule("env-secret", rf"(?<![A-Za-z0-9_]){_NAME}=[\\]?\"([^\"\n\\]{{3,4096}})", "="),
    _rule("env-secret", rf"(?<![A-Za-z0-9_]){_NAME}='([^'\n]{{3,4096}})'", "='"),
    _rule("env-secret", rf"(?<![A-Za-z0-9_]){_NAME}=({_BARE}{{3,4096}})", "="),
    _rule("env-secret", rf"[\"']{_NAME}[\\]?[\"']\s{{0,4}}:\s{{0,4}}[\\]?[\"']([^\"'\n\\]{{3,4096}})", ":"),
    _rule(
        "env-secret",
        rf"^[ \t-]{{0,16}}[A-Z0-9]+_{_NAME}: {{1,4}}[\"']?({_BARE}{{3,4096}})[\"']?[ \t]*$",
        ": ",
        flags=re.MULTILINE,
    ),
    _rule(
        "option-secret",
        rf"(?<!\S)--(?:password|passwd|token|api-key|apikey|secret|client-secret|access-token|auth-token)(?:=|\s{{1,4}})[\"']?({_BARE}{{4,4096}})",
        "--",
    ),
)

_SECRET_OPTION = re.compile(
    r"--(?:password|passwd|token|api-key|apikey|secret|client-secret|access-token|auth-token)\Z", re.IGNORECASE
)

Span = tuple[int, int, str]


def find_secrets(text: str) -> list[Span]:
    """Where secrets stand: (start, end, rule), in order. Those that overlap are one, under the earlier rule's name."""
    secrets = _merged(_scan(text))
    known = secrets
    while known:
        # What was found may have hidden the beginning or the end of another: look again without it.
        masked = list(text)
        for start, end, _ in secrets:
            masked[start:end] = "*" * (end - start)
        found = _scan("".join(masked))
        known = [span for span in found if not any(a <= span[0] and span[1] <= b for a, b, _ in secrets)]
        secrets = _merged([(start, end, _ORDER[name]) for start, end, name in secrets] + known) if known else secrets
    return secrets


_ORDER = {rule.name: order for order, rule in reversed(list(enumerate(RULES)))}


def _scan(text: str) -> list[tuple[int, int, int]]:
    """Matches as (start, end, place of the rule)."""
    lower = text.lower()
    found: list[tuple[int, int, int]] = []
    for order, rule in enumerate(RULES):
        if not any(hint in lower for hint in rule.hints):
            continue
        group = 1 if rule.pattern.groups else 0
        for match in rule.pattern.finditer(text):
            start, end = match.span(group)
            if not group or not _REFERENCE.match(text, start, end):
                found.append((start, end, order))
    return found


def _merged(found: list[tuple[int, int, int]]) -> list[Span]:
    secrets: list[Span] = []
    reach, rank = -1, 0
    for start, end, order in sorted(found):
        if start < reach:
            reach, rank = max(reach, end), min(rank, order)
            secrets[-1] = (secrets[-1][0], reach, RULES[rank].name)
        else:
            reach, rank = end, order
            secrets.append((start, end, RULES[order].name))
    return secrets


def render(text: str, start: int, end: int, secrets: Sequence[Span]) -> tuple[str, int]:
    """`text[start:end]` with each secret that reaches into it replaced, and how many there were."""
    parts: list[str] = []
    position = start
    count = 0
    for first, last, name in secrets:
        if last <= start or first >= end:
            continue
        parts.append(text[position : max(first, position)])
        parts.append(f"[redacted:{name}]")
        position = last
        count += 1
    if position < end:
        parts.append(text[position:end])
    return "".join(parts), count


def redact(text: str) -> tuple[str, int]:
    """The text without its secrets, and how many were replaced. Redacting twice changes nothing."""
    secrets = find_secrets(text)
    if not secrets:
        return text, 0
    return render(text, 0, len(text), secrets)


def redact_argv(argv: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """A command vector without its secrets: each argument by itself, and the value after an option such as `--token`."""
    result: list[str] = []
    total = 0
    expecting = False
    for argument in argv:
        if expecting and argument and not argument.startswith("-") and not _REFERENCE.match(argument):
            clean, count = "[redacted:option-secret]", 1
        else:
            clean, count = redact(argument)
        expecting = _SECRET_OPTION.match(argument) is not None
        result.append(clean)
        total += count
    return tuple(result), total
