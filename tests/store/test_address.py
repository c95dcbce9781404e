"""Where a Neo4j database is: the URI, then the environment, then the configuration file; and never a password in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from provenance.errors import StoreError
from provenance.store import address

SECRET = "pa/ss:w@rd"
QUOTED = "pa%2Fss%3Aw%40rd"

URIS = [  # what is given; then uri, shown, user, password, database
    ("neo4j://h", "neo4j://h:7687", "neo4j://h:7687", None, None, None),
    ("bolt://h:1/db", "bolt://h:1", "bolt://h:1/db", None, None, "db"),
    ("neo4j+s://h/db/", "neo4j+s://h:7687", "neo4j+s://h:7687/db", None, None, "db"),
    ("bolt+ssc://u@h", "bolt+ssc://h:7687", "bolt+ssc://u@h:7687", "u", None, None),
    (f"bolt://u:{QUOTED}@h/db", "bolt://h:7687", "bolt://u@h:7687/db", "u", SECRET, "db"),
    (f"bolt://a%40b:{QUOTED}@h", "bolt://h:7687", "bolt://a%40b@h:7687", "a@b", SECRET, None),
    ("neo4j://[::1]:7/db", "neo4j://[::1]:7", "neo4j://[::1]:7/db", None, None, "db"),
    ("neo4j://H.Example.org", "neo4j://h.example.org:7687", "neo4j://h.example.org:7687", None, None, None),
    ("bolt://h?user=u&database=db", "bolt://h:7687", "bolt://h:7687?user=u&database=db", "u", None, "db"),
    ("bolt://h/one%20two", "bolt://h:7687", "bolt://h:7687/one%20two", None, None, "one two"),
]


@pytest.mark.parametrize(("given", "uri", "shown", "user", "password", "database"), URIS, ids=[row[0] for row in URIS])
def test_a_uri_is_read(
    tmp_path: Path, given: str, uri: str, shown: str, user: str | None, password: str | None, database: str | None
) -> None:
    found = address.parse(given, {}, tmp_path / "none")
    assert (found.uri, found.shown) == (uri, shown)
    assert (found.user, found.password, found.database) == (user, password, database)
    again = address.parse(shown, {}, tmp_path / "none")
    assert (again.uri, again.shown, again.user, again.database) == (uri, shown, user, database)


def test_options_are_read(tmp_path: Path) -> None:
    found = address.parse("bolt+s://h?ca=~/ca.pem&retry=2.5", {}, tmp_path / "none")
    assert (found.ca, found.retry) == (Path("~/ca.pem").expanduser(), 2.5)
    assert address.parse("bolt://h", {}, tmp_path / "none").retry == address.RETRY


PLACES = [  # a URI, what the environment and the file say, and what counts: user, password, database
    ("bolt://u:p@h/d", "neo4j", "u", "p", "d"),
    ("bolt://u@h/d", "neo4j", "u", "environment", "d"),
    ("bolt://h", "neo4j", "environment", "environment", "environment"),
    ("bolt://h", "", "file", "file", "file"),
    ("bolt://u@h", "", "u", "file", "file"),
]


@pytest.mark.parametrize(("uri", "environment", "user", "password", "database"), PLACES)
def test_the_uri_goes_before_the_environment_and_that_before_the_file(
    tmp_path: Path, uri: str, environment: str, user: str, password: str, database: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[neo4j]\nusername = "file"\npassword = "file"\ndatabase = "file"\nca = "/file.pem"\n')
    names = ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
    found = address.parse(uri, dict.fromkeys(names, "environment" if environment else ""), config)
    assert (found.user, found.password, found.database) == (user, password, database)
    assert found.ca == Path("/file.pem")


def test_a_password_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{SECRET}\n")
    config = tmp_path / "config.toml"
    config.write_text(f'[neo4j]\npassword_file = "{tmp_path}/password"\n')
    assert address.parse("bolt://h", {}, config).password == SECRET
    assert address.parse("bolt://h", {"NEO4J_PASSWORD": "other"}, config).password == "other"


WRONG = [
    (f"bolt://u:{SECRET}@h", "with % escapes for / : @ ? # [ ] in a user or password"),
    (f"bolt://u:{QUOTED}\u2100@h", "cannot be read"),
    (f"bolt://u:{QUOTED}@", "names no server"),
    (f"http://u:{QUOTED}@h", "names no server: write http://HOST:PORT/DATABASE"),
    (f"bolt://u:{QUOTED}@h:port", "cannot be read"),
    (f"bolt://u:{QUOTED}@h:99999", "cannot be read"),
    (f"bolt://u:{QUOTED}@[::1", "cannot be read"),
    (f"bolt://u:{QUOTED}@h?retry=soon", "retry in the store's URI is a number of seconds, not 'soon'"),
    (f"bolt://u:{QUOTED}@h?timeout=1", "has the option 'timeout'; there are ca, database, retry, user"),
    (f"bolt://u:{QUOTED}@h?password=x", "has the option 'password'; there are ca, database, retry, user"),
]


@pytest.mark.parametrize(("uri", "words"), WRONG, ids=[words for _, words in WRONG])
def test_a_wrong_uri_is_said_without_its_password(tmp_path: Path, uri: str, words: str) -> None:
    with pytest.raises(StoreError) as raised:
        address.parse(uri, {}, tmp_path / "none")
    assert words in str(raised.value)
    for part in ("pa", "ss", "w@rd"):
        assert not re.search(rf"\b{part}\b", str(raised.value))
    assert QUOTED not in str(raised.value)


FILES = [
    ("neo4j = 1", "neo4j is a table"),
    ("[neo4j]\nuser = 'x'", "[neo4j] has no 'user'; it has username, password, password_file, database, ca"),
    ("[neo4j]\npassword = 7", "password in [neo4j] is text"),
    ("[neo4j", "cannot be read"),
    ("\udcff", "cannot be read"),
    ("[neo4j]\npassword_file = '/does/not/exist'", "the password file /does/not/exist cannot be read"),
]


@pytest.mark.parametrize(("text", "words"), FILES)
def test_a_wrong_configuration_is_said(tmp_path: Path, text: str, words: str) -> None:
    config = tmp_path / "config.toml"
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreError) as raised:
        address.parse("bolt://h", {}, config)
    assert words in str(raised.value)


def test_an_address_shows_no_password() -> None:
    found = address.parse(f"bolt://u:{QUOTED}@h/db", {}, Path("/does/not/exist"))
    for text in (repr(found), str(found), found.place, found.shown):
        assert SECRET not in text
        assert QUOTED not in text
    assert found.place == "bolt://h:7687, database db"
