"""The only formatter of numbers: scores, shares, money, durations; a dash if missing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

DASH = "–"
MINUS = "−"
#: A share this close to 0 or 1 counts as equal to it; the most digits of percentages.
EXACT, FINEST = 1e-9, 4
#: The most digits for distinguishing two figures.
MOST_DIGITS = 12
HIDDEN_BELOW = 0.00005


def score(value: float | None, digits: int = 2) -> str:
    """Return a score or a coefficient, by default with two decimals; a dash if missing.

    >>> [score(0.834), score(1.0), score(0), score(-0.5), score(-0.001), score(None)]
    ['0.83', '1.00', '0.00', '−0.50', '0.00', '–']
    """
    if value is None:
        return DASH
    text = f"{abs(value):.{digits}f}"
    return MINUS + text if value < 0 and float(text) else text


def p_value(value: float) -> str:
    """Return a p value with three decimals, or a bound near 0 and 1 instead of rounding to them.

    >>> p_value(0.0000012), p_value(0.04), p_value(0.5), p_value(1.0)
    ('< 0.001', '0.040', '0.500', '> 0.999')
    """
    if value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"{value:.3f}"


def points(value: float | None, *, share: bool = False, digits: int | None = None) -> str:
    """Return a difference with its sign (0 has none); differences of shares are in percentage
    points.

    >>> points(0.05, share=True), points(-0.051), points(0.0), points(-0.051, digits=3)
    ('+5.0 points', '−0.05', '0.00', '−0.051')
    """
    if value is None:
        return DASH
    size = score(abs(value) * (100 if share else 1), digits or (1 if share else 2))
    sign = "" if float(size) == 0 else "+" if value > 0 else MINUS
    return f"{sign}{size} points" if share else f"{sign}{size}"


Form = Callable[[float | None], str]


def forms_of_change(
    first: float, second: float, difference: float, *, share: bool = False
) -> tuple[Form, Form]:
    """Return the formats of two figures and of their difference, with digits that add up.

    If ``difference`` is not that of the two figures (it is over other items), it has its usual
    digits.

    >>> ends, change = forms_of_change(0.384, 0.386, 0.386 - 0.384)
    >>> ends(0.384), ends(0.386), change(0.386 - 0.384)
    ('0.384', '0.386', '+0.002')
    >>> ends, change = forms_of_change(2 / 3, 5 / 7, 5 / 7 - 2 / 3, share=True)
    >>> ends(2 / 3), ends(5 / 7), change(5 / 7 - 2 / 3)
    ('66.67%', '71.43%', '+4.76 points')
    """
    form, digits = (percent, 0) if share else (score, 2)
    ends, change = partial(form, digits=digits), partial(points, share=share)
    if abs(second - first - difference) > EXACT:
        return ends, change
    while digits < MOST_DIGITS:
        shown = _parsed_figure(ends(second)) - _parsed_figure(ends(first))
        if abs(shown - _parsed_figure(change(difference))) < EXACT:
            break
        digits += 1
        ends, change = partial(form, digits=digits), partial(points, share=share, digits=digits)
    return ends, change


def _parsed_figure(shown: str) -> float:
    """Return the number in a formatted figure."""
    return float(shown.replace(MINUS, "-").removesuffix(" points").removesuffix("%"))


def interval(low: float | None, high: float | None) -> str:
    """Return an interval of scores.

    >>> interval(0.7, 0.91)
    '0.70 to 0.91'
    """
    return DASH if low is None or high is None else f"{score(low)} to {score(high)}"


def share_points(value: float | None) -> str:
    """Return a difference of shares with its sign, in percentage points.

    >>> share_points(0.05)
    '+5.0 points'
    """
    return points(value, share=True)


def level_words(level: float) -> str:
    """Return the level of an interval, exactly.

    >>> level_words(0.95), level_words(0.999)
    ('95%', '99.9%')
    """
    return f"{round(100 * level, 6):g}%"


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as a percentage; 0% and 100% only if exact.

    >>> [percent(0.256), percent(0.256, 1), percent(-0.05), percent(None)]
    ['26%', '25.6%', '−5%', '–']
    >>> [percent(1), percent(0.998), percent(0.00004), percent(0)]
    ['100%', '99.8%', '0.004%', '0%']
    """
    if share is None:
        return DASH
    rounded = round(share)
    if abs(share - rounded) > EXACT and abs(rounded) <= 1:
        while digits < FINEST and float(f"{share * 100:.{digits}f}") == rounded * 100:
            digits += 1
    return f"{share * 100:.{digits}f}%".replace("-", MINUS)


def count(value: int | None) -> str:
    """Return a whole number with separated thousands.

    >>> [count(1234567), count(0), count(None)]
    ['1,234,567', '0', '–']
    """
    return DASH if value is None else f"{value:,}".replace("-", MINUS)


def plural(value: int, singular: str, plural_form: str = "") -> str:
    """Return a count with its word.

    >>> [plural(1, "criterion", "criteria"), plural(2, "item")]
    ['1 criterion', '2 items']
    """
    return f"{count(value)} {singular if value == 1 else plural_form or singular + 's'}"


def number(value: float | None, digits: int = 6) -> str:
    """Return any number in its shortest form.

    >>> [number(10.0), number(0.5), number(-2.5), number(None)]
    ['10', '0.5', '−2.5', '–']
    """
    return DASH if value is None else f"{value:.{digits}g}".replace("-", MINUS)


def distinguishable_text(
    value: float | None, other_value: float, form: Callable[[float | None, int], str], digits: int
) -> str:
    """Return a figure with enough digits to distinguish it from another one.

    >>> distinguishable_text(0.496, 0.5, percent, 0), distinguishable_text(0.5, 0.5, percent, 0)
    ('49.6%', '50%')
    >>> distinguishable_text(0.79996, 0.8, number, 3)
    '0.79996'
    """
    if value is not None and value != other_value:
        while digits < MOST_DIGITS and form(value, digits) == form(other_value, digits):
            digits += 1
    return form(value, digits)


def weight(value: float) -> str:
    """Return a weight with its sign.

    >>> [weight(10), weight(-2.5), weight(0)]
    ['+10', '−2.5', '0']
    """
    return f"+{number(value)}" if value > 0 else number(value)


def cost(dollars: float | None) -> str:
    """Return a cost; a small one has two significant digits, an unknown one says so.

    >>> [cost(12.3), cost(0.0021), cost(0), cost(0.000001), cost(None)]
    ['$12.30', '$0.0021', '$0.00', 'under $0.0001', 'unknown']
    """
    if dollars is None:
        return "unknown"
    if 0 < dollars < HIDDEN_BELOW:
        return "under $0.0001"
    if 0 < dollars < 1:
        figures = f"{dollars:.4f}".rstrip("0")
        return "$" + (figures if len(figures) > 3 else f"{dollars:.2f}")
    return f"${dollars:,.2f}"


def seconds(value: float | None) -> str:
    """Return a duration in its two largest units.

    >>> [seconds(0.234), seconds(8.25), seconds(95), seconds(3720), seconds(None)]
    ['0.23 s', '8.3 s', '1 min 35 s', '1 h 2 min', '–']
    """
    if value is None:
        return DASH
    if value < 1:
        return f"{value:.2f} s"
    if value < 60:
        return f"{value + 1e-9:.1f} s"
    rounded = round(value)
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


def pace(per_second: float) -> str:
    """Return a rate per second, minute or hour, in the unit that is easiest to grasp.

    >>> pace(12.4), pace(0.5), pace(0.01)
    ('12/s', '30/min', '36/h')
    """
    lengths = {"s": 1, "min": 60, "h": 3600}
    unit = next((unit for unit in lengths if per_second * lengths[unit] >= 1), "h")
    rate = per_second * lengths[unit]
    return f"{number(round(rate, 1 if rate < 10 else 0), 4)}/{unit}"


def about_minutes(value: float) -> str:
    """Return a remaining time, rounded because it is an estimate.

    >>> about_minutes(0.4), about_minutes(25.2), about_minutes(75)
    ('under a minute', 'about 25 min', 'about 1 h 15 min')
    """
    rounded = round(value)
    if rounded < 1:
        return "under a minute"
    return "about " + (f"{rounded} min" if rounded < 60 else seconds(60 * rounded))


def tokens(value: int | None) -> str:
    """Return a count of tokens, shortened from ten thousand on.

    >>> [tokens(950), tokens(12_300), tokens(4_200_000), tokens(None)]
    ['950 tokens', '12.3k tokens', '4.2M tokens', 'tokens unknown']
    """
    if value is None:
        return "tokens unknown"
    if value < 10_000:
        return plural(value, "token")
    short, unit = (value / 1e3, "k") if value < 1e6 else (value / 1e6, "M")
    return f"{short:.1f}{unit} tokens"


def time_ago(moment: str, now: datetime | None = None) -> str:
    """Return how long ago an ISO moment was; beyond 30 days, its date.

    >>> time_ago("2026-01-02T10:00:00.000Z", datetime(2026, 1, 2, 10, 3, tzinfo=UTC))
    '3 min ago'
    """
    then = datetime.fromisoformat(moment)
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    elapsed = ((now or datetime.now(UTC)) - then).total_seconds()
    if elapsed < 45:
        return "just now"
    for limit, size, unit in ((5400, 60, "min"), (129_600, 3600, "h"), (2_592_000, 86_400, "days")):
        if elapsed < limit:
            return f"{max(1, round(elapsed / size))} {unit} ago"
    return day_of(moment)


def day_of(moment: str) -> str:
    """Return the date of an ISO moment.

    >>> day_of("2026-01-02T10:00:00.000Z")
    '2 Jan 2026'
    """
    then = datetime.fromisoformat(moment)
    return f"{then.day} {then:%b %Y}"


def short_hash(value: str) -> str:
    """Return the first eight hex digits of a content hash.

    >>> short_hash("sha256:0123456789abcdef")
    '01234567'
    """
    return value.rpartition(":")[2][:8]
