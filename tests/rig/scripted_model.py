"""A scripted model and an upload sink on loopback.

`ScriptedModel` speaks the Responses and the Messages interface as server-sent events, so that a real agent program runs
its real tools with no model behind it. A script is a list of replies, each a mapping with any of: `say` (text), `reason`
(text), `sh` (a shell command), `tool` with `args`, `many` (a list of [tool, arguments]), `patch` (text), `wait` (seconds
before it answers); or `status` with `error`, to refuse a request by HTTP. Past its end the model says "done". `UploadSink`
keeps what it got, and answers 204 to everything that it has no page for.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Reply = Mapping[str, Any]
Events = list[tuple[str, dict[str, Any]]]
_Encoder = Callable[[Mapping[str, Any], int, Reply], Events]


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the recorder's own output should stay readable."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))


class _Server:
    """A threaded server on loopback; port 0 picks a free one."""

    def __init__(self, port: int, handler: type[_Quiet]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class UploadSink(_Server):
    """Records every request as `[method, path, number of bytes, text]` in `hits`.

    `pages` has for a path the answers to give, as status and text: one a request, the last one from then on.
    """

    def __init__(self, port: int = 0, pages: Mapping[str, Sequence[tuple[int, str]]] | None = None) -> None:
        hits: list[list[Any]] = []
        left = {path: list(answers) for path, answers in (pages or {}).items()}

        class Handler(_Quiet):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                data = self.body()
                hits.append([self.command, self.path, len(data), data.decode(errors="replace")])
                answers = left.get(self.path, [(204, "")])
                status, text = answers.pop(0) if len(answers) > 1 else answers[0]
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_PUT = do_POST

        super().__init__(port, Handler)
        self.hits = hits


class ScriptedModel(_Server):
    """Answers model requests with the replies of a script, one a request."""

    def __init__(self, script: Sequence[Reply], port: int = 0) -> None:
        counter = itertools.count()

        def following() -> tuple[int, Reply]:
            index = next(counter)
            return index, script[index] if index < len(script) else {"say": "done"}

        class Handler(_Quiet):
            def do_GET(self) -> None:
                self.answer({"data": [], "models": []})

            def do_POST(self) -> None:
                try:
                    request = json.loads(self.body())
                except ValueError:  # compressed bodies: nothing in them is needed
                    request = {}
                if "count_tokens" in self.path:
                    self.answer({"input_tokens": 100})
                elif self.path.endswith("/responses"):
                    self.reply(_responses_events, request, *following())
                elif "/messages" in self.path:
                    # Side calls (titles, classifiers) carry no tools and do not use up the script.
                    index, reply = following() if request.get("tools") else (9999, {"say": "ok"})
                    self.reply(_messages_events, request, index, reply)
                else:
                    self.answer({})

            def reply(self, events: _Encoder, request: Mapping[str, Any], index: int, reply: Reply) -> None:
                time.sleep(reply.get("wait", 0))
                if "status" in reply:
                    error = {"type": "invalid_request_error", "message": reply["error"]}
                    self.answer({"type": "error", "error": error}, reply["status"])
                else:
                    self.stream(events(request, index, reply))

            def answer(self, value: object, status: int = 200) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, events: Events) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                for name, data in events:
                    self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
                    self.wfile.flush()
                self.close_connection = True

        super().__init__(port, Handler)


def _responses_events(request: Mapping[str, Any], index: int, reply: Reply) -> Events:
    tools = [tool.get("name") or tool.get("type") for tool in request.get("tools", [])]
    response = f"resp_{index}"
    items: list[dict[str, Any]] = []
    if "reason" in reply:
        summary = [{"type": "summary_text", "text": reply["reason"]}]
        items.append({"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": None})
    if "say" in reply:
        content = [{"type": "output_text", "text": reply["say"]}]
        items.append({"type": "message", "role": "assistant", "id": f"msg_{index}", "content": content})
    if "patch" in reply:
        call = {"type": "custom_tool_call", "id": f"ctc_{index}", "call_id": f"call_{index}"}
        items.append({**call, "name": "apply_patch", "input": reply["patch"]})
    if "sh" in reply:
        if "shell_command" in tools:
            name, arguments = "shell_command", {"command": reply["sh"]}
        elif "exec_command" in tools:
            name, arguments = "exec_command", {"cmd": reply["sh"]}
        else:
            name, arguments = "shell", {"command": ["bash", "-lc", reply["sh"]]}
        call = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}"}
        items.append({**call, "name": name, "arguments": json.dumps(arguments)})
    usage = {
        "input_tokens": 1200 + index * 300,
        "input_tokens_details": {"cached_tokens": 800},
        "output_tokens": 60,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 1260 + index * 300,
    }
    return [
        ("response.created", {"response": {"id": response}}),
        *(("response.output_item.done", {"item": item}) for item in items),
        ("response.completed", {"response": {"id": response, "usage": usage}}),
    ]


def _messages_events(request: Mapping[str, Any], index: int, reply: Reply) -> Events:
    calls: list[tuple[str, Any]] = []
    if "sh" in reply:
        calls.append(("Bash", {"command": reply["sh"], "description": "run"}))
    if "tool" in reply:
        calls.append((reply["tool"], reply["args"]))
    calls += [(name, arguments) for name, arguments in reply.get("many", [])]
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if "say" in reply:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": reply["say"]}))
    for position, (name, arguments) in enumerate(calls):
        start = {"type": "tool_use", "id": f"toolu_{index}_{position}", "name": name, "input": {}}
        blocks.append((start, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}))
    message = {
        "id": f"msg_{index}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "scripted"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1200 + index * 10,
            "output_tokens": 1,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 800,
        },
    }
    events: Events = [("message_start", {"message": message})]
    for position, (start, delta) in enumerate(blocks):
        events += [
            ("content_block_start", {"index": position, "content_block": start}),
            ("content_block_delta", {"index": position, "delta": delta}),
            ("content_block_stop", {"index": position}),
        ]
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    return [*events, ("message_delta", {"delta": stop, "usage": {"output_tokens": 60}}), ("message_stop", {})]
