"""Shell text to tokens: words with their quotes taken off, operators, redirections; comments and here-documents left out.

Never fails: an unbalanced quote runs to the end of the text. Substitutions `$(...)` and backticks stay in words as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BARE = re.compile(r"[^\s\\'\"$`|&;()<>#]+")
_OPERATOR = re.compile(r"\|\||&&|\|&|;;|&>>|&>|<<-|<<<|<<|>>|>&|<&|<>|>\||[|&;()<>\n]")
REDIRECTIONS = frozenset(("&>>", "&>", "<<-", "<<<", "<<", ">>", ">&", "<&", "<>", ">|", "<", ">"))


@dataclass(slots=True)
class Token:
    text: str
    operator: bool
    quoted: bool = False


def _closing(text: str, start: int) -> int:
    """Index after the parenthesis that closes `$(` whose body begins at `start`."""
    depth, index, length = 1, start, len(text)
    while index < length:
        char = text[index]
        if char == "\\":
            index += 1
        elif char == "'":
            end = text.find("'", index + 1)
            index = length if end < 0 else end
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return index + 1
        index += 1
    return length


def _double_quoted(text: str, start: int) -> tuple[str, int]:
    """The text of a double-quoted string whose body begins at `start`, and the index after it."""
    out: list[str] = []
    index, length = start, len(text)
    while index < length:
        char = text[index]
        if char == '"':
            return "".join(out), index + 1
        if char == "\\" and index + 1 < length:
            following = text[index + 1]
            out.append(following if following in '$`"\\' else "" if following == "\n" else char + following)
            index += 2
        elif char == "$" and text.startswith("$(", index):
            end = _closing(text, index + 2)
            out.append(text[index:end])
            index = end
        else:
            out.append(char)
            index += 1
    return "".join(out), length


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    parts: list[str] = []
    open_word = quoted = False
    heredocs: list[str] = []
    index, length = 0, len(text)

    def close() -> None:
        nonlocal open_word, quoted
        if open_word:
            found.append(Token("".join(parts), False, quoted))
            parts.clear()
            open_word = quoted = False

    while index < length:
        char = text[index]
        if char in " \t\r":
            close()
            index += 1
        elif char == "#" and not open_word:
            end = text.find("\n", index)
            index = length if end < 0 else end
        elif char == "\\":
            if text.startswith("\\\n", index):
                index += 2
                continue
            parts.append(text[index + 1 : index + 2])
            open_word = quoted = True
            index += 2
        elif char == "'":
            end = text.find("'", index + 1)
            end = length if end < 0 else end
            parts.append(text[index + 1 : end])
            open_word = quoted = True
            index = end + 1
        elif char == '"':
            inner, index = _double_quoted(text, index + 1)
            parts.append(inner)
            open_word = quoted = True
        elif char == "`" or (char == "$" and text.startswith("$(", index)):
            if char == "`":
                end = text.find("`", index + 1)
                end = length if end < 0 else end + 1
            else:
                end = _closing(text, index + 2)
            parts.append(text[index:end])
            open_word = True
            index = end
        elif match := _OPERATOR.match(text, index):
            operator = match.group()
            if operator in REDIRECTIONS and open_word and not quoted and "".join(parts).isdigit():
                found.append(Token("".join(parts), True))  # the descriptor of a redirection
                parts.clear()
                open_word = False
            else:
                close()
            found.append(Token(operator, True))
            index = match.end()
            if operator in ("<<", "<<-"):
                word = re.compile(r"\s*['\"\\]?([\w.-]+)").match(text, index)
                if word:
                    heredocs.append(word.group(1))
            elif operator == "\n" and heredocs:
                for delimiter in heredocs:
                    end = re.compile(rf"^\t*{re.escape(delimiter)}[ \t]*$", re.MULTILINE).search(text, index)
                    index = length if end is None else end.end()
                heredocs.clear()
        else:
            match = _BARE.match(text, index)
            end = match.end() if match else index + 1
            parts.append(text[index:end])
            open_word = True
            index = end
    close()
    return found
