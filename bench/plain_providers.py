"""What a judge's call costs at each provider whose protocol is plain, beside the peer there.

    python bench/plain_providers.py [--items 100] [--only openai azure ...]

Workload: that of ``calls.py`` with 100 items (1,800 calls), no delay, 256 in flight. ``ours`` asks
the model by its provider's name, through the lean door (the run's door is checked), and keeps every
vote in a data file; ``peer`` is autorubric asking the same model, with a quarter of the items. Both
ask ``bench/stand_in.py``, which answers in OpenAI's protocol, and in Anthropic's at its path. For
Ollama the peer has no figure: litellm asks it in a protocol of Ollama's own. Mistral has no
variable for an address, so the judge names it. Each figure is of a fresh process, after two items
of warming up; one round. ``bare`` is aiohttp alone, as there.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import NamedTuple

from bench.calls import bare, graded, in_a_process, panel_of, peer
from bench.stand_in import stand_in
from core.judging.providers.choice import key_variables, provider_for


class At(NamedTuple):
    """A model, and the variable of its provider's address; ``root`` is one without /v1."""

    model: str
    variable: str = ""
    root: bool = False

    def address(self, url: str) -> str:
        return url.removesuffix("/v1") if self.root else url


PROVIDERS = {
    "openai": At("openai/gpt-4o-mini", "OPENAI_BASE_URL"),
    "azure": At("azure/gpt-4o-mini", "AZURE_API_BASE", root=True),
    "openrouter": At("openrouter/openai/gpt-4o-mini", "OPENROUTER_API_BASE"),
    "mistral": At("mistral/mistral-small-latest"),
    "groq": At("groq/llama-3.3-70b-versatile", "GROQ_API_BASE"),
    "together_ai": At("together_ai/openai/gpt-oss-20b", "TOGETHER_AI_API_BASE"),
    "deepseek": At("deepseek/deepseek-chat", "DEEPSEEK_API_BASE"),
    "hosted_vllm": At("hosted_vllm/own-model", "HOSTED_VLLM_API_BASE"),
    "ollama": At("ollama/llama3.2", "OLLAMA_API_BASE", root=True),
    "anthropic": At("anthropic/claude-haiku-4-5", "ANTHROPIC_API_BASE", root=True),
}


def ours(at: At, url: str, items: int) -> dict[str, float]:
    """The whole way of the product, at the provider that the model is named after."""
    judges = panel_of(at.model, "" if at.variable else at.address(url))
    os.environ.update(dict.fromkeys(key_variables(judges.judges[0])[:1], "sk-of-nobody"))
    os.environ.update({at.variable: at.address(url)} if at.variable else {})
    assert {provider_for(judge, os.environ) for judge in judges.judges} == {"plain"}
    return graded(judges, items)


def one(variant: str, provider: str, url: str, items: int) -> dict[str, float]:
    """The figures of one variant in this process."""
    at = PROVIDERS[provider]
    if variant == "peer":
        os.environ.update(AZURE_API_VERSION="2024-10-21")
        return peer(at.address(url), items, at.model)
    return bare(url, items) if variant == "bare" else ours(at, url, items)


def compare(url: str, items: int, only: list[str]) -> None:
    """Prints a line a provider."""

    def asked(variant: str, provider: str, n: int) -> dict[str, float]:
        command = [__file__, "--client", variant, "--url", url, "--only", provider]
        return in_a_process(command, f"{variant} at {provider}", n)

    floor = asked("bare", "openai", items)
    least = floor["cpu"] / floor["calls"]
    print(f"bare: {floor['calls'] / floor['wall']:,.0f} calls/s, CPU {least * 1000:.3f} ms a call")
    print(f"{'':12}{'calls/s':>10}{'CPU ms':>10}{'x bare':>10}{'peer':>10}{'x peer':>10}")
    for provider in only:
        found = asked("ours", provider, items)
        rate, cost = found["calls"] / found["wall"], found["cpu"] / found["calls"]
        line = f"{provider:12}{rate:10,.0f}{cost * 1000:10.3f}{cost / least:10.1f}"
        if provider != "ollama":
            theirs = asked("peer", provider, items // 4)
            beside = theirs["calls"] / theirs["wall"]
            line += f"{beside:10,.0f}{rate / beside:10.1f}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--only", nargs="*", choices=PROVIDERS, default=list(PROVIDERS))
    parser.add_argument("--client", choices=("bare", "ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.client:
        print(json.dumps(one(asked.client, asked.only[0], asked.url, asked.items)))
        return
    with stand_in(0.0) as url:
        compare(url, asked.items, asked.only)


if __name__ == "__main__":
    main()
