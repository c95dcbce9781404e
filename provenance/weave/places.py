"""What a path says about what stands there: toolchain, secret, agent state, temporary.

Rules are few, precise and versioned; a label carries the rule's name. Toolchain files are folded by the weaver unless the
trace itself writes them. Paths are matched, contents are not looked at.
"""

from __future__ import annotations

import re
from typing import NamedTuple

VERSION = "places-1"

_TOOLCHAIN = re.compile(
    r"^(?:/usr/(?!src/|local/src/)|/lib(?:32|64|x32)?/|/bin/|/sbin/|/opt/|/nix/store/|/snap/|/system/|/apex/|/proc/|/sys/|/dev/(?!shm/|pts/|tty)"
    r"|/etc/(?:ld\.so|ld-nix|locale|localtime|nsswitch|ssl/|pki/|ca-certificates|alternatives|terminfo|inputrc|profile|bash|mime|gai\.conf"
    r"|host\.conf|hosts$|resolv\.conf|passwd$|group$|login\.defs|os-release|debian_version|gitconfig|python|magic|protocols|services|ethers"
    r"|timezone|default/|security/|pam\.d|selinux|system-release|lsb-release|machine-id))"
    r"|/(?:site-packages|dist-packages|node_modules|\.pyenv|\.rustup|\.cargo/(?:registry|bin)|go/pkg/mod|\.m2/repository|\.nvm|\.venv)/"
    r"|/(?:pyvenv\.cfg|pybuilddir\.txt)$|/lib/python\d[\d.]*/"
)
_SECRET = re.compile(
    r"/(?:\.env(?:\.(?!example|sample|template|dist)[\w-]+)?|\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|credentials|credentials\.json"
    r"|secrets?\.(?:ya?ml|json|toml|env|txt)|id_(?:rsa|dsa|ecdsa|ed25519)|shadow|gshadow|\.htpasswd|auth\.json|\.vault-token"
    r"|[^/]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk))$|/\.(?:aws|ssh|gnupg|kube|docker|azure)/(?!known_hosts|config$)"
)
_PUBLIC_KEY = re.compile(
    r"(?:\.pub|/etc/(?:ssl|pki)/(?!.*private).*\.(?:pem|crt)|[-_.]ca\.pem|/cert\.pem|/cacert\.pem|/ca-[^/]*\.(?:pem|crt)|/known_hosts)$"
)
_AGENT_STATE = re.compile(
    r"/\.(?:codex|claude|gemini|cursor|config/claude|openclaw|kimi|qwen|factory|aider[^/]*|opencode)(?:/|\.json|$)|/\.claude\.json[^/]*$"
    r"|^/(?:var/)?tmp/claude-|/\.cache/(?:claude|codex)|/tasks/[^/]+\.output$|^/tmp/claude[^/]*-cwd$|^/(?:var/)?tmp/codex"
)
_PROTECTED = re.compile(
    r"^/etc/|^/boot/|/\.git/(?:hooks/|config$)|/\.ssh/|/\.(?:bashrc|profile|bash_profile|zshrc)$|/authorized_keys$|/crontab$"
)
_TEMPORARY = re.compile(r"^/(?:var/)?tmp/|^/dev/shm/|^/run/")
_KERNEL = re.compile(r"^/(?:proc|sys)/|^/dev/(?!shm/|pts/|tty)")


class Place(NamedTuple):
    """What a path says: whether it is folded, and its label with rule and confidence."""

    toolchain: bool
    kernel: bool  # an interface of the kernel, not a file: folded without being listed
    label: str | None
    rule: str | None
    confidence: float | None


_PLAIN = Place(False, False, None, None, None)


def place(path: str) -> Place:
    """Classify an absolute path."""
    if _AGENT_STATE.search(path):
        return Place(False, False, "agent_state", f"{VERSION}/agent_state", 0.95)
    if _SECRET.search(path) and not _PUBLIC_KEY.search(path):
        return Place(False, False, "secret", f"{VERSION}/secret_name", 0.9)
    if _TOOLCHAIN.search(path):
        return Place(True, _KERNEL.match(path) is not None, "toolchain", f"{VERSION}/toolchain", 0.9)
    if _PROTECTED.search(path):
        return Place(False, False, "protected", f"{VERSION}/protected_name", 0.9)
    if _TEMPORARY.match(path):
        return Place(False, False, "temporary", f"{VERSION}/temporary", 0.9)
    return _PLAIN
