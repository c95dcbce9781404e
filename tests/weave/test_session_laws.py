"""Laws that hold for any records: acyclic, valid, complete in itself, and independent of how the sources came in."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from provenance.changes import validate
from provenance.records import (
    AnyTurnRecord,
    ApprovalDecided,
    Content,
    ContextCompacted,
    EnvironmentStated,
    MessageSaid,
    ModelResponded,
    PlanDeclared,
    PolicyStated,
    SessionDescribed,
    SessionEnded,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnStarted,
)
from provenance.weave.checks import changes_sources, checks
from provenance.weave.claims import claims
from provenance.weave.oracles import commit, judge, work_tree
from provenance.weave.sessions import RuntimeEnd, SessionLog, Subgraph, difference, weave_session
from provenance.weave.shell import commands, unwrapped
from tests.weave.turn_records import S, dangling, is_acyclic

texts = st.one_of(
    st.sampled_from(["", "Fixed; tests pass.", "OK", "FAILED (failures=1)", "ls", "a\ud800", "make: *** [x] Error 1"]),
    st.text(max_size=20),
)
sizes = st.one_of(st.none(), st.integers(0, 100), st.sampled_from([2**63, -(2**70)]))
contents = st.builds(Content, digest=st.one_of(st.none(), st.sampled_from(["d1", "d2"])), size=sizes, preview=texts)
ids = st.one_of(st.none(), st.sampled_from(["a", "b", "c", ""]))
times = st.one_of(st.none(), st.integers(0, 50), st.sampled_from([2**64, -(2**63) - 1]))
lines = st.integers(1, 30)
counts = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(["input", "output", "cached_input", "x"]), st.integers(-5, 2**65))
)
statuses = st.sampled_from(["completed", "failed", "refused", "interrupted", "timed_out", "running", "nonsense"])
shells = st.sampled_from(
    ["ls", "pytest", "make 2>&1 | tail -1", "git commit -m x", "sed -i s/a/b/ x.c", "bash -lc 'pytest'"]
)
strings = st.tuples(st.sampled_from(["x.py", "y.md"])) | st.just(())


def of(kind: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, session=st.just(S), line=lines, time=times, **fields)


records: st.SearchStrategy[AnyTurnRecord] = st.one_of(
    of(TurnStarted, turn=ids),
    of(TurnEnded, turn=ids, status=statuses, reason=ids, final_message=st.none() | contents, usage=counts),
    of(MessageSaid, turn=ids, message=ids, role=st.sampled_from(["user", "assistant", "system"]),
       origin=st.sampled_from(["human", "agent", "harness", "parent_agent"]), content=contents, response=ids),
    of(ModelResponded, turn=ids, response=ids, usage=counts, error=ids, reasoning=st.none() | contents),
    of(ToolCalled, turn=ids, call=ids, response=ids, name=st.sampled_from(["exec", "edit"]),
       action=st.sampled_from(["shell", "edit", "nonsense", "shell_input"]), command=st.none() | shells, paths=strings,
       arguments=contents, continues=ids, positional=st.booleans()),
    of(ToolReturned, turn=ids, call=ids, status=statuses, exit_code=st.none() | st.integers(-1, 2**64),
       output=st.none() | contents, error=ids, child_session=st.none() | st.sampled_from([S, "s/kid", "other"]), running=ids,
       changes=st.just(()) | st.just((("x.py", "update"),)), positional=st.booleans()),
    of(ApprovalDecided, turn=ids, call=ids, decision=st.sampled_from(["approved", "refused"]),
       by=st.sampled_from(["human", "policy", "agent"]), reason=ids),
    of(PlanDeclared, turn=ids, call=ids, response=ids, content=contents, steps=strings),
    of(ContextCompacted, turn=ids, summary=st.none() | contents),
    of(PolicyStated, turn=ids, approval=ids, sandbox=ids, permission_mode=ids, writable_roots=strings, details=ids),
    of(EnvironmentStated, details=st.sampled_from(["{}", '{"a":1}'])),
    of(SessionDescribed, agent=st.sampled_from(["codex", "claude-code"]), model=ids, parent_session=ids | st.just(S)),
    of(SessionEnded, status=statuses, cost_usd=st.none() | st.floats(allow_nan=False), usage=counts,
       final_message=st.none() | contents),
)  # fmt: skip
feeds = st.lists(records, max_size=25)
ends = st.none() | st.builds(
    RuntimeEnd, time=times, signal=st.none() | st.just("SIGKILL"), status=st.none() | st.integers(0, 2)
)
sources = st.lists(
    st.tuples(st.sampled_from(["codex-rollout", "codex-exec", "claude-transcript", "claude-stream"]), feeds), max_size=3
).map(lambda given: [(f"k{place}", kind, feed) for place, (kind, feed) in enumerate(given)])


def weave(given: list[tuple[str, str, list[AnyTurnRecord]]], end: RuntimeEnd | None = None) -> Subgraph:
    log = SessionLog(S)
    for key, kind, feed in given:
        log.add(key, kind, feed)
    return weave_session(log, end, "toolcall:elsewhere/x")


@settings(max_examples=400, deadline=None)
@given(sources, ends)
def test_any_records_give_a_valid_acyclic_graph(
    given_sources: list[tuple[str, str, list[AnyTurnRecord]]], end: RuntimeEnd | None
) -> None:
    graph = weave(given_sources, end)
    validate(graph.changes())
    assert is_acyclic(graph.edges)
    assert not dangling(graph)
    for identity, fields in graph.nodes.items():
        assert None not in fields.values(), identity
    for fields in graph.edges.values():
        assert fields["basis"] in ("reported", "observed", "inferred")
        assert fields["rule"]
        assert "source" in fields or end is not None or not any(feed for _, _, feed in given_sources)
        assert fields["basis"] != "inferred" or "confidence" in fields


@settings(max_examples=200, deadline=None)
@given(sources, st.data())
def test_how_the_sources_come_in_does_not_matter(
    given_sources: list[tuple[str, str, list[AnyTurnRecord]]], data: st.DataObject
) -> None:
    ordered = [(key, kind, sorted(feed, key=lambda record: record.line)) for key, kind, feed in given_sources]
    pieces: list[tuple[str, str, list[AnyTurnRecord]]] = []
    for key, kind, feed in data.draw(st.permutations(ordered)):
        cut = data.draw(st.integers(0, len(feed)))
        while 0 < cut < len(feed) and feed[cut - 1].line == feed[cut].line:
            cut += 1  # a line's records come together
        pieces += [(key, kind, feed[:cut]), (key, kind, feed[cut:])]
    again = data.draw(st.lists(st.sampled_from(pieces), max_size=3)) if pieces else []
    assert weave([*pieces, *again]) == weave(ordered)


@settings(max_examples=100, deadline=None)
@given(sources)
def test_a_kept_log_gives_the_same_graph(given_sources: list[tuple[str, str, list[AnyTurnRecord]]]) -> None:
    log = SessionLog(S)
    for key, kind, feed in given_sources:
        log.add(key, kind, feed)
    loaded = SessionLog.load(log.dump())
    assert weave_session(loaded) == weave_session(log)
    for key, kind, feed in given_sources:
        assert not loaded.add(key, kind, log.sources[key].records if feed else [])


@settings(max_examples=200, deadline=None)
@given(feeds, feeds)
def test_a_difference_turns_one_graph_into_the_other(first: list[AnyTurnRecord], second: list[AnyTurnRecord]) -> None:
    old, new = weave([("r", "codex-rollout", first)]), weave([("r", "codex-rollout", second)])
    changes = difference(old, new)
    validate(changes)
    nodes = {identity: dict(fields) for identity, fields in old.nodes.items() if identity not in changes.removed_nodes}
    edges = {
        key: dict(fields)
        for key, fields in old.edges.items()
        if key not in changes.removed_edges and not {key[1], key[2]} & changes.removed_nodes
    }
    assert not changes.edges.keys() & edges.keys()
    for target, puts in ((nodes, changes.nodes), (edges, changes.edges), (edges, changes.edge_updates)):
        for key, fields in puts.items():
            target.setdefault(key, {}).update(fields)  # type: ignore[index, arg-type, call-overload]
    stripped = {key: {n: v for n, v in fields.items() if v is not None} for key, fields in nodes.items()}
    assert {key: stripped[key] for key in new.nodes} == new.nodes
    assert all(not old.owns(key) for key in stripped.keys() - new.nodes.keys())
    assert {k: {n: v for n, v in fields.items() if v is not None} for k, fields in edges.items()} == new.edges


lexemes = st.lists(
    st.sampled_from(
        ["pytest", "make", "git", "commit", "&&", "||", ";", "|", "(", ")", "{", "}", "if", "then", "fi", "for", "do", "done",
         "'", '"', "\\", "$(", "`", ">", "2>&1", "<<EOF", "EOF", "\n", "&", "!", "bash", "-c", "x=1", "case", "esac", "#", "$?", "echo"]
    ),
    max_size=30,
).map(" ".join)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(lexemes | st.text(max_size=60), st.none() | st.integers(-20, 300), st.text(max_size=100))
def test_readers_of_text_never_fail(line: str, status: int | None, output: str) -> None:
    assert all(isinstance(word, str) for command in commands(line) for word in command.words)
    for check in checks(line):
        assert judge(check, status, output).verdict in ("pass", "fail", "unknown", "killed", "interrupted")
    commit(line, status, output)
    work_tree(line, status, output)
    changes_sources(line)
    assert unwrapped(unwrapped(line)) == unwrapped(line)
    assert claims(output)
