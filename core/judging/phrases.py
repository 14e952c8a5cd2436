"""The fixed words between a question's own texts. A changed word is a new ``PROMPT_VERSION``."""

from __future__ import annotations

REWARD = "Reward. Meeting the requirement speaks for the submission."
PENALTY = (
    "Penalty. The requirement describes a fault. Decide whether the fault is present in the "
    "submission itself; mentioning it, quoting it or warning against it is not committing it."
)
NEUTRAL = "Neutral. It speaks neither for nor against the submission."

#: What MET and UNMET mean where the author has not said it: (reward or neutral, penalty).
MET_MEANS = (
    "the submission meets the requirement.",
    "the fault is present in the submission itself.",
)
UNMET_MEANS = (
    "the submission does not meet the requirement.",
    "the fault is not present in the submission itself.",
)
ABSTENTION_MEANS = "the question cannot be decided from what is given."

EXAMPLES = (
    "Other submissions, and the option that a person chose for this criterion. None of them is the "
    "submission to judge."
)
EXAMPLE_CHOICE = "Option chosen in example {name}: {option}"
#: Shown in place of a task or a reference that an example does not have and the question does.
NOTHING_GIVEN = "(none)"

_KEYS = (
    '"evidence" (up to three short verbatim quotes from the submission), "reason" ({reason}), '
    '"option" (a whole number from 1 to {count}).'
)

ASK = (
    "Choose the one option that describes the submission. Reply with only the JSON object: "
    + _KEYS.replace("{reason}", "one to three sentences")
)
ASK_ALL = (
    "For each criterion, choose the one option that describes the submission. Reply with only the "
    "JSON object, whose keys are {ids}. The value of each is an object: "
    '"evidence" (up to three short verbatim quotes from the submission), "reason" (one to three '
    'sentences), "option" (a whole number, one of those shown for that criterion).'
)
ASSESS = (
    "Assess the submission against the criterion in plain words, at most 200 of them. Quote what "
    "your assessment rests on and weigh the options against each other. No JSON yet: you will be "
    "asked to choose after this."
)
CHOOSE = (
    "Now choose the one option that your assessment supports; do not contradict it. Reply with "
    "only the JSON object: " + _KEYS.replace("{reason}", "one to three sentences that sum it up")
)

REPAIR = (
    "Your previous reply to this request could not be used: {problem} Judge again and reply with "
    'only one JSON object with the keys "evidence", "reason" and "option", where "option" is a '
    "whole number from 1 to {count}. Keep it short."
)
REPAIR_ALL = (
    "Your previous reply to this request could not be used: {problem} Judge again and reply with "
    "only one JSON object with the keys {ids}, each once, where the value of each is an object "
    'with the keys "evidence", "reason" and "option". Keep it short.'
)
REPAIR_ASSESSMENT = (
    "Your previous reply to this request could not be used: {problem} Assess again, in plain words "
    "and shorter."
)
