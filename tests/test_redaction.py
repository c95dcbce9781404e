"""Secrets go, evidence stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.content import EDGE, content, short
from provenance.identity import digest
from provenance.redaction import REDACTION_VERSION, RULES, redact, redact_argv

A = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"  # 48 letters and digits
SECRETS = {
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPLE",
    "github-token": "ghp_" + A[:36],
    "gitlab-token": "glpat-" + A[:20],
    "slack-token": "xoxb-" + "123456789012-" + A[:24],
    "slack-webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + A[:24],
    "anthropic-key": "sk-ant-" + "api03-" + A,
    "openai-key": "sk-proj-" + A,
    "stripe-key": "sk_live_" + A[:24],
    "google-key": "AIza" + A[:35],
    "npm-token": "npm_" + A[:36],
    "pypi-token": "pypi-AgE" + A,
    "huggingface-token": "hf_" + A[:34],
    "sendgrid-key": "SG." + A[:22] + "." + A[:43],
    "digitalocean-token": "dop_v1_" + "0123456789abcdef" * 4,
    "azure-key": "AccountKey=" + A[:40] + "==",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "authorization": "Authorization: Bearer " + A[:20],
    "api-key-header": "x-api-key: " + A[:20],
    "url-password": "postgres://user:" + "hunter22@db.example/app",
    "url-token": "https://example.test/x?access_token=" + A[:20],
    "env-secret": "DB_PASSWORD=" + "correct-horse",
    "option-secret": "mytool --password " + "correct-horse",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n" + A + "\n" + A + "\n-----END RSA PRIVATE KEY-----",
    "aws-secret-key": "aws_secret_access_key = " + A[:40],
}


@pytest.mark.parametrize(("rule", "secret"), SECRETS.items())
def test_each_rule_finds_its_secret(rule: str, secret: str) -> None:
    text, count = redact(f"before {secret} after")
    assert count >= 1
    assert f"[redacted:{rule}]" in text
    assert text.startswith("before ")
    assert text.endswith("after")
    value = secret.split("=")[-1] if rule in ("env-secret", "url-token") else secret[-16:]
    assert value not in text or rule in ("url-password",)
    assert "hunter22" not in text


def test_every_rule_is_exercised() -> None:
    assert {rule.name for rule in RULES} == set(SECRETS)
    assert REDACTION_VERSION >= 1


@pytest.mark.parametrize(
    "text",
    [
        "Ship order token: ORDER-4471-ZULU today",
        "the token is ORDER-4471-ZULU",
        "token=ORDER-4471-ZULU",
        "password: see the wiki",
        "git rev-parse HEAD 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "019fc8be-3658-7ca3-9e29-000000000000",
        "MAX_TOKENS=4096 and TOKENIZER=bpe",
        "export GITHUB_TOKEN=$TOKEN; API_KEY=${KEY}; DB_PASSWORD=$(pass db)",
        "API_KEY=<your key here>",
        "PWD=/home/user OLDPWD=/tmp",
        "SECRET=true",
        "https://example.test/a:b@c",
        "https://user@example.test/",
        "def get_token(): return os.environ['TOKEN']",
        "curl -H 'Authorization: Bearer $TOKEN' https://x.test",
        "if '-----BEGIN PRIVATE KEY-----' in text: raise",
        "risk-based sk-learn task-1234567890123456789012345678901234567890",
    ],
)
def test_what_only_looks_odd_survives(text: str) -> None:
    assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"API_TOKEN": "abc123xyz"}', '{"API_TOKEN": "[redacted:env-secret]"}'),
        ("export FOO_SECRET='a b c'", "export FOO_SECRET='[redacted:env-secret]'"),
        ('  MY_API_KEY: "k-123456"  ', '  MY_API_KEY: "[redacted:env-secret]"  '),
        ("A_TOKEN=abc B_TOKEN=def", "A_TOKEN=[redacted:env-secret] B_TOKEN=[redacted:env-secret]"),
        ("PGPASSWORD=pw1 psql", "PGPASSWORD=[redacted:env-secret] psql"),
        ("https://u:p4ss@h/x", "https://u:[redacted:url-password]@h/x"),
    ],
)
def test_only_the_value_is_replaced(text: str, expected: str) -> None:
    assert redact(text)[0] == expected


def test_argv() -> None:
    argv = ("tool", "--token", "abc-123", "--password=pw12345", "--token", "--verbose", "DB_PASSWORD=xyz", "plain")
    clean, count = redact_argv(argv)
    assert clean == (
        "tool",
        "--token",
        "[redacted:option-secret]",
        "--password=[redacted:option-secret]",
        "--token",
        "--verbose",
        "DB_PASSWORD=[redacted:env-secret]",
        "plain",
    )
    assert count == 3


def test_content_of_short_text_is_whole() -> None:
    text = "line\n" * 400
    assert content(text).preview == text
    assert content(text).digest == digest(text)
    assert content(text).size == len(text)


def test_content_of_long_text_keeps_its_edges() -> None:
    text = "a" * 5000 + "é" * 5000
    kept = content(text)
    assert kept.preview == f"{'a' * EDGE}\n[... 8000 characters left out ...]\n{'é' * EDGE}"
    assert kept.size == 15_000
    assert kept.digest == digest(text)


def test_secret_across_an_edge_does_not_leak() -> None:
    secret = SECRETS["github-token"]
    head = "x" * (EDGE - 11) + " " + secret + " " + "y" * 5000
    tail = "y" * 5000 + " " + secret + " " + "x" * (EDGE - 11)
    for text in (head, tail):
        kept = content(text)
        assert kept.redactions == 1
        assert "ghp_" not in kept.preview
        assert secret[-8:] not in kept.preview


def test_secret_in_the_part_left_out_is_not_counted() -> None:
    assert content("x" * 3000 + " " + SECRETS["jwt"] + " " + "y" * 3000).redactions == 0


def test_lone_surrogates() -> None:
    kept = content("a\ud800b")
    assert kept.preview == "a\ufffdb"
    assert kept.size == 5
    assert kept.digest == digest("a\ud800b")


def test_short_is_one_redacted_line() -> None:
    assert short("first API_TOKEN=abcdef\nsecond") == "first API_TOKEN=[redacted:env-secret]"
    assert len(short("x" * 1000)) == 200


PIECES = [
    *SECRETS.values(),
    "TOKEN=",
    "password",
    "://",
    ":",
    "@",
    "\n",
    " ",
    "=",
    '"',
    "'",
    "--token ",
    "x" * 50,
    "\\n",
    "[redacted:jwt]",
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20))))
def test_redacting_twice_changes_nothing(pieces: list[str]) -> None:
    once, _ = redact("".join(pieces))
    assert redact(once) == (once, 0)


@given(st.text())
def test_content_can_always_be_stored(text: str) -> None:
    content(text).preview.encode()
