"""A model file as a judge: its server is started once, ends with its starter, and is told apart.

A module named ``xllamacpp`` stands in for llama.cpp's: it serves one fixed answer.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.requests_from_files import panel_from
from core.domain.panel import Judge
from core.domain.votes import Vote, VoteFailure
from core.errors import InputError
from core.judging.asking.llm_judge import LLMJudge
from core.judging.local import model_file, own_address
from core.judging.providers.choice import open_provider, provider_for, why_no_batches
from core.judging.rate_limits import ProviderGate
from core.services.guided import judging
from core.services.judges import connection
from core.services.judges.readiness import require_ready
from tests.judging.scripted import QUESTION
from tests.new_store import new_store
from tests.places import ROOT
from tests.services.runs.world import until

#: Speaks as the real one does, as far as the starter uses it.
STAND_IN = """
import http.server, json, threading
from types import SimpleNamespace as Some

def CommonParams():
    return Some(model=Some(), cpuparams=Some(), cpuparams_batch=Some())

class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"message": {"content": '{"option": 1}'}, "finish_reason": "stop"}
        usage = {"prompt_tokens": self.server.context, "completion_tokens": 5}
        body = json.dumps({"id": "1", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

def Server(given):
    if "broken" in given.model.path:
        raise RuntimeError("Failed to load model")
    server = http.server.ThreadingHTTPServer((given.hostnames[0], given.port), Answers)
    server.context = given.n_ctx
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Some(listening_address=f"http://127.0.0.1:{server.server_port}")
"""


@pytest.fixture(autouse=True)
def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "xllamacpp.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    yield
    model_file.stop_servers()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF and so on")
    return path


def ask(spec: Judge) -> tuple[Vote | VoteFailure, float | None, int | None]:
    async def go() -> tuple[Vote | VoteFailure, float | None, int | None]:
        door = open_provider(provider_for(spec))
        outcome = await LLMJudge(spec, door, None, ProviderGate()).ask(QUESTION)
        await door.close()
        assert outcome.call is not None
        return outcome.results[0], outcome.call.cost, outcome.call.tokens_in

    return asyncio.run(go())


def test_a_file_is_served_and_asked_and_costs_nothing(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(model_file.CONTEXT, "4096")
    judge = model_file.judge_of_file(str(model))
    assert (judge.name, provider_for(judge), own_address.is_patient(judge)) == (
        "small",
        "file",
        True,
    )
    assert why_no_batches(judge)
    require_ready([judge])
    vote, cost, context = ask(judge)
    assert isinstance(vote, Vote)
    # Two calls at once, each with the whole context.
    assert (cost, context) == (0.0, 2 * 4096)
    address = model_file.server_address(model).removesuffix("/v1")
    assert model_file.server_address(model) == f"{address}/v1"
    model_file.stop_servers()
    assert is_refused(address)


def test_a_file_given_as_a_model_has_what_suits_it(model: Path, tmp_path: Path) -> None:
    store = new_store(tmp_path / "studio.db")
    judge = judging.add_model(store, f" file:{model}", "", "", "Mine")
    suits = model_file.judge_of_file(str(model))
    assert judge == suits.model_copy(update={"name": "Mine"})
    for _ in range(2):  # the second time it is only tested again
        assert judging.add_model(store, f"file:{model}", "", "") == suits
    until(lambda: not connection.tested_now(store))
    with pytest.raises(InputError, match="cannot be a judge"):
        judging.add_model(store, "file:/nowhere.gguf", "", "")


def test_a_server_that_ended_is_started_again(model: Path) -> None:
    judge = model_file.judge_of_file(str(model))
    ask(judge)
    model_file.stop_servers()
    vote, *_ = ask(judge)
    assert isinstance(vote, Vote)


def test_a_file_that_llama_cpp_does_not_load_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF")
    result = asyncio.run(_first(model_file.judge_of_file(str(path))))
    assert isinstance(result, VoteFailure)
    assert "did not start: RuntimeError: Failed to load model" in result.message


async def _first(spec: Judge) -> Vote | VoteFailure:
    door = open_provider(provider_for(spec))
    return (await LLMJudge(spec, door, None, ProviderGate()).ask(QUESTION)).results[0]


def test_the_server_ends_with_the_process_that_started_it(model: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from core.judging.local import model_file; "
        "print(model_file.server_address(Path(sys.argv[1])), flush=True); os._exit(1)"
    )
    environ = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(model)],
        env=environ, capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    address = done.stdout.strip().removesuffix("/v1")
    assert address.startswith("http://127.0.0.1:")
    until(lambda: is_refused(address))


def is_refused(address: str) -> bool:
    """Whether nobody listens there any more."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.socket() as line:
        return line.connect_ex((host, int(port))) == errno.ECONNREFUSED


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), (b"PK\x03\x04", "is no GGUF file")]
)
def test_what_a_judge_of_a_file_lacks_is_said_before_a_run(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "x.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        require_ready([model_file.judge_of_file(str(path))])
    assert words in str(refused.value.problems)


def test_without_the_extra_it_is_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "find_spec", lambda name: None)
    lacks = model_file.missing_requirement(model_file.judge_of_file(str(model)))
    assert lacks is not None
    assert "rubric-studio[local]" in lacks[1]


def test_a_file_is_a_judge_on_the_command_line(model: Path) -> None:
    (judge,) = panel_from(None, [f"file:{model}"], "", "", None).judges
    assert (judge.name, judge.model) == ("small", f"file:{model}")
