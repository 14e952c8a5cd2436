"""What a server tells by its own addresses to who has not signed in; below a path, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.access.at_the_door import asked
from tests.services.runs.test_server import serving

CONFIG = '[access]\nlogin = "required"\nadmins = ["alice@example.org"]\n'
TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module", params=["", "static", "tools/studio"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, str]]:
    """A server for a team, and the path that it is below."""
    folder = tmp_path_factory.mktemp("endpoints")
    (folder / "studio.toml").write_text(CONFIG, encoding="utf-8")
    below = ["--base-path", request.param] if request.param else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBRIC_STUDIO_CONFIG", str(folder / "studio.toml"))
        patch.setenv("RUBRIC_STUDIO_METRICS_TOKEN", TOKEN)
        with serving(folder, *below) as port:
            yield port, f"/{request.param}" if request.param else ""


WAYS = [
    "/metrics", "/metrics/", "/%6Detrics", "/metrics?families=active_sessions", "//metrics",
    "/_stcore/metrics", "/_stcore/metrics/", "/%5Fstcore/metrics", "/_stcore%2Fmetrics",
    "/_stcore/metrics?families=active_sessions", "/_stcore//metrics", "/./_stcore/metrics",
    "/x/../_stcore/metrics", "/_stcore/./metrics", "/_stcore/metrics%00", "/_STCORE/metrics",
    "/_stcore/metrics;x", "//_stcore/metrics", "/_stcore/metrics%20", "/static/../_stcore/metrics",
]  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("way", WAYS)
def test_figures_are_told_in_no_way_without_the_token(
    served: tuple[int, str], way: str, method: str
) -> None:
    port, below = served
    status, said, _ = asked(port, below + way, method=method)
    assert "active_sessions" not in said
    assert "# TYPE" not in said
    if way in ("/metrics", "/_stcore/metrics"):
        assert status == 403
        if method == "GET":
            brought = {"Authorization": f"Bearer {TOKEN}"}
            assert "# TYPE" in asked(port, below + way, brought)[1]


def test_other_endpoints_tell_nothing_of_the_server(served: tuple[int, str]) -> None:
    port, below = served

    def said(path: str, method: str = "GET") -> tuple[int, str]:
        return asked(port, f"{below}/_stcore/{path}", method=method)[:2]

    assert said("health") == (200, "ok")
    # No script is run for whoever asks, and no session made without a socket.
    assert "<title>Streamlit</title>" in said("script-health-check")[1]
    assert said("agent/interact", "POST")[0] == 403
    assert "not_available" in said("agent/mcp", "POST")[1]
    assert "switched off" in said("agent/openapi.json")[1]
    # What is a page's own to know: from where it may be framed, which the policy forbids anyway.
    assert "metricsUrl" in said("host-config")[1]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "way", ["/media/0123.csv", "/%6Dedia/0123.csv", "/media/0123.csv/", "/media/x/0123.csv"]
)
def test_a_file_of_a_page_is_refused_to_nobody_in_particular(
    served: tuple[int, str], way: str, method: str
) -> None:
    port, below = served
    assert asked(port, below + way, method=method)[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "GET"])
def test_nobody_leaves_a_file_on_a_page_or_takes_one_away(
    served: tuple[int, str], method: str
) -> None:
    port, below = served
    assert asked(port, f"{below}/_stcore/upload_file/session/file", method=method)[0] == 403
