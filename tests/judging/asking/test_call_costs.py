"""Prices: the judge's own first, then what the door reports, then litellm's list."""

import pytest

from core.domain.panel import Judge
from core.domain.votes import Cell
from core.judging.asking.call_costs import CallAccount, cost_of, price_of
from core.judging.providers.base import Completion

OWN = Judge(name="j", model="gpt-4o-mini", price_in=2.0, price_out=10.0)
LISTED = Judge(name="j", model="openai/gpt-4o-mini")
UNKNOWN = Judge(name="j", model="openai/nobody-knows-it")


def test_own_prices_are_per_million_tokens() -> None:
    # 1,000 * 2 / 1e6 + 100 * 10 / 1e6 = 0.003
    assert cost_of(OWN, 1000, 100, None) == pytest.approx(0.003)
    assert cost_of(OWN, 1000, 100, reported=9.0) == pytest.approx(0.003)


def test_a_price_of_nothing_is_a_price() -> None:
    free = Judge(name="j", model="m", price_in=0, price_out=0)
    assert cost_of(free, 1000, 100, reported=9.0) == 0.0


def test_half_a_price_is_no_price() -> None:
    half = Judge(name="j", model="gpt-4o-mini", price_in=2.0)
    assert price_of(half) is None
    assert cost_of(half, 1000, 100, reported=9.0) is None


def test_a_listed_model_has_its_listed_price() -> None:
    # The provider's list price of this model since 2024: $0.15 and $0.60 per million tokens.
    assert price_of(LISTED) == pytest.approx((0.15, 0.60))
    assert cost_of(LISTED, 1_000_000, 0, None) == pytest.approx(0.15)
    assert cost_of(LISTED, 1_000_000, 0, reported=0.1) == 0.1  # knows of cached tokens


def test_a_model_has_its_price_with_and_without_its_providers_name() -> None:
    # The list has it without: $3 and $15 per million tokens.
    for name in ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"):
        assert price_of(Judge(name="j", model=name)) == pytest.approx((3.0, 15.0))
    assert price_of(Judge(name="j", model="mistral/claude-sonnet-4-5")) is None


def test_a_model_at_an_address_of_its_own_has_no_listed_price() -> None:
    assert price_of(LISTED.model_copy(update={"api_base": "http://localhost/v1"})) is None


def test_what_is_not_known_costs_nobody_knows_what() -> None:
    assert price_of(UNKNOWN) is None
    assert cost_of(UNKNOWN, 1000, 100, None) is None
    assert cost_of(OWN, None, None, None) is None


def costed(tally: CallAccount) -> float | None:
    tally.requests = 2
    call = tally.call({})
    assert call is not None
    return call.cost


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    for costs in ([0.1, None], [None, 0.1], [None, None]):
        tally = CallAccount(UNKNOWN, Cell("i", "c", "j"))
        for cost in costs:
            tally.add(Completion("x", cost=cost))
        assert costed(tally) is None
    tally = CallAccount(UNKNOWN, Cell("i", "c", "j"))
    for cost in (0.1, 0.2):
        tally.add(Completion("x", cost=cost))
    assert costed(tally) == pytest.approx(0.3)
