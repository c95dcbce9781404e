"""Names of a Cypher text against the schema, and the store's own nodes kept out of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance import schema
from provenance.cypher import check_names, hide_own_nodes
from provenance.errors import UsageError
from provenance.store import open_store
from queries import Query, catalogue
from tests.test_cypher_guard import READS

every_query = pytest.mark.parametrize("query", catalogue().values(), ids=lambda query: query.id)

# ----------------------------------------------------------------------------------------------------------------------
# Names

DECLARED = [
    "MATCH (n) RETURN n.port, n.pid",
    "MATCH (n)-[e]->(m) RETURN e.keeps",
    "MATCH (a:Artifact)-[:GENERATED_BY]->(x) RETURN x.port",
    "MATCH (n:Session:Process) RETURN n.pid, n.agent",
    "MATCH (n:Session|Process) RETURN n.pid, n.agent",
    "MATCH ()-[e:USED|REVISION_OF]->() RETURN e.keeps",
    "MATCH (n:Process) WITH n.pid AS n RETURN n",
    "MATCH (n:Process) WITH count(*) AS c MATCH (n) RETURN n.path, c",
    "MATCH (n:Process) RETURN n.pid AS x UNION MATCH (n:Artifact) RETURN n.version AS x",
    "MATCH (n:Process) WITH n AS m MATCH (n:Artifact) RETURN m.pid, n.path",
    "MATCH (n:Process) WHERE any(x IN n.argv WHERE x = 'a') RETURN n.id",
    "MATCH (n:Process) WITH {pid: 1, other: 2} AS n RETURN n.other",
    "MATCH (n:Process) WITH n.pid AS limit, n AS skip WHERE limit > 0 RETURN skip.pid",
    "MATCH (n:Process) WHERE n.name STARTS WITH n.host RETURN n.argv[1:n.pid]",
    "MATCH (n:Process) WHERE EXISTS { MATCH (n:Process)-[:USED]->(m:Artifact) WHERE m.path = n.cwd } RETURN n.pid",
    "UNWIND [{a: 1}] AS x RETURN x.a",
    "MATCH (n:`Process` {`pid`: 1}) RETURN n.`pid`",
    "RETURN 1 AS a",
]
UNDECLARED = [
    ("MATCH (n:Sesion) RETURN n", "there is no node kind 'Sesion': did you mean Session", 10),
    ("MATCH (s:session) RETURN s", "there is no node kind 'session': did you mean Session", 10),
    ("MATCH (n:_Store) RETURN n", "there is no node kind '_Store'", 10),
    ("MATCH (n:Process|Artefact) RETURN n", "there is no node kind 'Artefact': did you mean Artifact", 18),
    ("MATCH (n)-[:USE]->() RETURN n", "there is no edge kind 'USE': did you mean USED", 13),
    ("MATCH (n)-[:USED|USE*1..3]->() RETURN n", "there is no edge kind 'USE': did you mean USED", 18),
    ("MATCH (n:Process) WHERE (n)-[:USD]->() RETURN n", "there is no edge kind 'USD': did you mean USED", 31),
    ("MATCH (n) WHERE n:Foo RETURN n", "there is no kind 'Foo'", 19),
    ("MATCH (n:Session) RETURN n.agnet", "Session has no field 'agnet': did you mean agent", 28),
    ("MATCH (n:Session) RETURN n.ID", "Session has no field 'ID': did you mean id", 28),
    ("MATCH (n:Session|Turn) RETURN n.pid", "Session and Turn have no field 'pid'", 33),
    ("MATCH (n) RETURN n.foo", "no node has a field 'foo'", 20),
    ("MATCH ()-[e]->() RETURN e.pid", "no edge has a field 'pid'", 27),
    ("MATCH ()-[e:USED]->() RETURN e.keeps", "USED has no field 'keeps'", 32),
    ("MATCH (n:Process {pidd: 1}) RETURN n", "Process has no field 'pidd': did you mean pid", 19),
    ("MATCH ()-[e:USED {cnt: 1}]->() RETURN e", "USED has no field 'cnt': did you mean count", 19),
    ("MATCH (n:Process) WITH n AS m RETURN m.path", "Process has no field 'path'", 40),
    ("MATCH (n:Process) WITH *, 1 AS a RETURN n.path", "Process has no field 'path'", 43),
    ("MATCH (n:Process) RETURN 1 AS x UNION MATCH (n:Artifact) RETURN n.pid AS x", "Artifact has no field 'pid'", 67),
    ("MATCH (n:Process) WHERE EXISTS { (n)-[:USED]->(m) WHERE m.a = 1 } RETURN n", "no node has a field 'a'", 59),
    ("MATCH (n:Process) WHERE EXISTS { (n:Process) } RETURN n.path", "Process has no field 'path'", 57),
]


@pytest.mark.parametrize("text", [*DECLARED, *READS])
def test_declared_names_pass(text: str) -> None:
    check_names(text)


@every_query
def test_names_of_the_catalogue_pass(query: Query) -> None:
    check_names(query.text)


@pytest.mark.parametrize(("text", "said", "column"), UNDECLARED)
def test_undeclared_names_are_told_with_names_near_them(text: str, said: str, column: int) -> None:
    with pytest.raises(UsageError) as refused:
        check_names(text)
    assert str(refused.value).startswith(said)
    assert str(refused.value).endswith(f"(line 1, column {column})")


def test_the_embedded_engine_agrees(tmp_path: Path) -> None:
    """It takes what is declared, and refuses what is not: but for names in another case, and the store's own."""
    with open_store(tmp_path / "store", write=True) as store:
        for text in DECLARED:
            store.query(text)
        for text, said, _ in UNDECLARED:
            if "'session'" in said or "'ID'" in said or "'_Store'" in said:
                store.query(text)
                continue
            with pytest.raises(UsageError):
                store.query(text)


fields = st.sampled_from([(kind.name, field) for kind in schema.NODES for field in kind.by_name])


@given(fields, st.sampled_from(["{0}.{1}", "count(DISTINCT {0}.{1}) AS c", "[{0}.{1}, 1]", "{{a: {0}.{1}}}"]))
def test_every_field_of_every_kind_passes_and_none_other(field: tuple[str, str], form: str) -> None:
    kind, name = field
    check_names(f"MATCH (v:{kind}) RETURN {form.format('v', name)}")
    with pytest.raises(UsageError, match=f"{kind} has no field '{name}_'"):
        check_names(f"MATCH (v:{kind}) RETURN {form.format('v', name + '_')}")


# ----------------------------------------------------------------------------------------------------------------------
# The store's own nodes

HIDDEN = [
    ("MATCH (n) RETURN count(*)", "MATCH (n:!_Store) RETURN count(*)"),
    ("match(n)return n", "match(n:!_Store)return n"),
    ("MATCH ()RETURN 1", "MATCH (:!_Store)RETURN 1"),
    ("MATCH (n {id: 'x'}), (m) RETURN n", "MATCH (n:!_Store {id: 'x'}), (m:!_Store) RETURN n"),
    ("MATCH ({id: 'x'}) RETURN 1", "MATCH (:!_Store{id: 'x'}) RETURN 1"),
    ("MATCH (n WHERE n.id = (1)) RETURN n", "MATCH (n:!_Store WHERE n.id = (1)) RETURN n"),
    ("MATCH (WHERE true) RETURN 1", "MATCH (:!_Store WHERE true) RETURN 1"),
    ("MATCH (/*a*/n/*b*/) RETURN n", "MATCH (/*a*/n:!_Store/*b*/) RETURN n"),
    ("MATCH (`a (b`) RETURN 1", "MATCH (`a (b`:!_Store) RETURN 1"),
    ("MATCH p = (n) RETURN p", "MATCH p = (n:!_Store) RETURN p"),
    ("OPTIONAL MATCH (match) RETURN match", "OPTIONAL MATCH (match:!_Store) RETURN match"),
    ("MATCH (a)-[*0..3]->(b) RETURN a", "MATCH (a:!_Store)-[*0..3]->(b:!_Store) RETURN a"),
    ("MATCH (a)-->{0,2}(b) RETURN a", "MATCH (a:!_Store)-->{0,2}(b:!_Store) RETURN a"),
    ("MATCH (a)-->*(b) RETURN a", "MATCH (a:!_Store)-->*(b:!_Store) RETURN a"),
    ("MATCH (a)-->+(b) RETURN a", "MATCH (a:!_Store)-->+(b:!_Store) RETURN a"),
    ("MATCH ((a)-->(b)){0,2} (c) RETURN c", "MATCH ((a)-->(b)){0,2} (c:!_Store) RETURN c"),
    ("MATCH (n:!Session) RETURN n", "MATCH (n:(!Session)&!_Store) RETURN n"),
    ("MATCH (n:%) RETURN n", "MATCH (n:(%)&!_Store) RETURN n"),
    ("MATCH (n IS !Session) RETURN n", "MATCH (n IS (!Session)&!_Store) RETURN n"),
    ("RETURN COUNT { (n) } AS c", "RETURN COUNT { (n:!_Store) } AS c"),
    ("RETURN COUNT { MATCH (n) } AS c", "RETURN COUNT { MATCH (n:!_Store) } AS c"),
    ("RETURN EXISTS { (n) WHERE (n.id) = 'x' } AS c", "RETURN EXISTS { (n:!_Store) WHERE (n.id) = 'x' } AS c"),
    ("RETURN COLLECT { MATCH (n) RETURN n.id } AS c", "RETURN COLLECT { MATCH (n:!_Store) RETURN n.id } AS c"),
    ("MATCH (s:Session WHERE EXISTS { (n) }) RETURN s", "MATCH (s:Session WHERE EXISTS { (n:!_Store) }) RETURN s"),
]
LEFT = [
    "MATCH (n:Session) RETURN (n)",
    "MATCH (n:Session|Process) WHERE (n.id) = 'x' RETURN n",
    "MATCH (a)-->(b)<-[e:USED]-(c) RETURN a",
    "MATCH (a)--(b) RETURN a",
    "MATCH (a)-[:USED*1..3]->(b) RETURN a",
    "MATCH (a)-[:USED*]->(b) RETURN a",
    "MATCH (a)-[:USED*..3]->(b) RETURN a",
    "MATCH (a:Process)-[*0..3]->(b) RETURN a",
    "MATCH (a)-[*0..3]->(b)-->(c) RETURN a",
    "RETURN 'MATCH (n)' AS a // MATCH (n)",
    "RETURN `MATCH (n)` AS a",
    "WITH 1 AS match RETURN match, (match)",
    "WITH {match: (1)} AS m RETURN m.match, (m)",
    "WITH 1 AS n RETURN count(n), [(n), (n)], (n) - (n), {a: (n)}, CASE (n) WHEN (n) THEN (n) END",
]


@pytest.mark.parametrize(("text", "hidden"), HIDDEN)
def test_a_lone_node_is_none_of_the_stores_own(text: str, hidden: str) -> None:
    assert hide_own_nodes(text) == hidden


@pytest.mark.parametrize("text", LEFT)
def test_all_else_stays_as_it_is(text: str) -> None:
    assert hide_own_nodes(text) == text


@every_query
def test_the_catalogue_stays_as_it_is(query: Query) -> None:
    assert hide_own_nodes(query.text) == query.text


@st.composite
def paths(draw: st.DrawFn) -> tuple[str, str]:
    """A path pattern, and the same with the store's own nodes kept out."""
    count = draw(st.integers(1, 4))
    labels = [draw(st.sampled_from(["", ":Session", ":Session|Turn"])) for _ in range(count)]
    steps = [draw(st.sampled_from(["-->", "--", "<-[e]-", "-[:USED*1..2]->", "-[*0..2]->"])) for _ in range(count - 1)]
    own = not any(labels) and all("*0" in step for step in steps)
    texts = ["", ""]
    for place, label in enumerate(labels):
        space = draw(st.sampled_from(["", " ", "/*(x)*/"]))
        name = draw(st.sampled_from(["", *(f"{space}{name}{place}" for name in ("n", "match"))]))
        rest = draw(st.sampled_from(["", "{id: '(n)'}", " WHERE EXISTS { (:Turn)-->() }"]))
        step = steps[place] if place < len(steps) else ""
        texts[0] += f"({name}{label}{rest}){step}"
        texts[1] += f"({name}{label}{':!_Store' * own}{rest}){step}"
    return texts[0], texts[1]


@given(
    st.lists(paths(), min_size=1, max_size=3),
    st.sampled_from(["MATCH {} RETURN 1", "optional match {} WHERE (1) = (2) RETURN [(1)]", "RETURN EXISTS {{ {} }}",
                     "MATCH (s:Session) WHERE COUNT {{ MATCH {} }} > (1) RETURN s", "RETURN 1 AS a UNION MATCH {}\nRETURN (2)"]),
)  # fmt: skip
def test_just_what_may_match_by_itself_is_changed(parts: list[tuple[str, str]], form: str) -> None:
    given_text, expected = (form.format(", ".join(part[side] for part in parts)) for side in (0, 1))
    assert hide_own_nodes(given_text) == expected
