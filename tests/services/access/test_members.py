"""Who may sign in: verified members only, for as long as their sign-in counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import clock
from core.domain.access import TeamAccess
from core.errors import InputError, NotAllowed
from core.services.access import members
from core.store.store import Store
from tests.services.access.made import CONFIG, member, team
from tests.text.test_addresses import ALIKE, FOLDED


@pytest.fixture
def access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TeamAccess:
    return team(tmp_path, monkeypatch)


def claims(email: object = "ann@example.org", **more: object) -> dict[str, object]:
    """What a provider says of somebody who signed in just now."""
    return {"email": email, "email_verified": True, "iat": int(clock.seconds_now()), **more}


def test_nobody_is_signed_in_without_claims(store: Store, access: TeamAccess) -> None:
    assert members.actor(store, access, None).role is None


def test_who_signs_in_from_an_allowed_domain_becomes_a_viewer(
    store: Store, access: TeamAccess
) -> None:
    who = members.actor(store, access, claims("Ann@Example.org"))
    assert (who.name, who.role, who.trusted) == ("ann@example.org", "viewer", False)
    assert [row.email for row in store.members.list()] == ["ann@example.org"]


@pytest.mark.parametrize("said", [False, "false", "true", None, 1, "missing"])
def test_an_address_that_is_not_plainly_verified_is_nobody(
    store: Store, access: TeamAccess, said: object
) -> None:
    given = claims()
    if said == "missing":
        del given["email_verified"]
    else:
        given["email_verified"] = said
    who = members.actor(store, access, given)
    assert who.role is None
    assert "verified" in who.refused
    assert store.members.list() == []


def test_a_stranger_is_nobody_and_leaves_no_row(store: Store, access: TeamAccess) -> None:
    # Nobody becomes lead by being first; a domain that only ends alike is another one.
    for email in ("eve@elsewhere.net", "eve@notexample.org", "eve@example.org.elsewhere.net"):
        assert members.actor(store, access, claims(email)).role is None
    assert store.members.list() == []


@pytest.mark.parametrize("email", ["", None, "no-address", 7])
def test_without_an_address_somebody_is_nobody(
    store: Store, access: TeamAccess, email: object
) -> None:
    assert members.actor(store, access, claims(email)).role is None


def test_an_admin_of_the_configuration_is_one_whatever_the_rows_say(
    store: Store, access: TeamAccess
) -> None:
    store.members.put("alice@example.org", "viewer", disabled=True, now=clock.now())
    assert members.actor(store, access, claims("alice@example.org")).role == "admin"


def test_a_member_who_is_switched_off_is_out_at_once_and_keeps_the_row(
    store: Store, access: TeamAccess
) -> None:
    given = claims()
    assert members.actor(store, access, given).role == "viewer"
    admin = store.acting(member("admin"))
    members.put(admin, "ann@example.org", "author", disabled=True)
    out = members.actor(store, access, given)
    assert out.role is None
    assert "switched off" in out.refused
    members.put(admin, "ann@example.org", "author")
    assert members.actor(store, access, given).role == "author"


def test_a_sign_in_ends_after_its_hours(store: Store, access: TeamAccess) -> None:
    # session_hours = 12: 43,200 seconds.
    old = claims(iat=int(clock.seconds_now()) - 43_300)
    assert "Sign in again" in members.actor(store, access, old).refused
    young = claims(iat=int(clock.seconds_now()) - 43_000)
    assert members.actor(store, access, young).role == "viewer"


@pytest.mark.parametrize("iat", [None, "now", True])
def test_a_sign_in_that_does_not_say_when_is_over(
    store: Store, access: TeamAccess, iat: object
) -> None:
    assert members.actor(store, access, claims(iat=iat)).role is None


def test_logging_out_ends_every_sign_in_of_before(store: Store, access: TeamAccess) -> None:
    # A second tab and a copied cookie carry the claims of the same sign-in.
    copied = claims(iat=int(clock.seconds_now()) - 60)
    who = members.actor(store, access, copied)
    members.sign_out(store.acting(who))
    assert members.actor(store, access, copied).refused == "You signed out."
    assert members.actor(store, access, claims()).role == "viewer"


def test_only_an_admin_gives_roles_and_it_is_on_record(store: Store, access: TeamAccess) -> None:
    for role in ("viewer", "reviewer", "adjudicator", "author", "lead"):
        with pytest.raises(NotAllowed, match="only an admin may"):
            members.put(store.acting(member(role)), "eve@example.org", "admin")
    admin = store.acting(member("admin", "alice@example.org"))
    members.put(admin, "bob@example.org", "author")
    members.put(admin, "bob@example.org", "lead")
    (newest, first) = members.audit_lines(admin)
    assert (newest.actor, newest.verb, newest.act) == (
        "alice@example.org",
        "administer",
        "access.members.put",
    )
    assert newest.object["email"] == "bob@example.org"
    assert newest.before == {"role": "author", "disabled": False}
    assert newest.after == {"role": "lead", "disabled": False}
    assert first.before is None


def test_an_admin_of_the_configuration_is_changed_there(store: Store, access: TeamAccess) -> None:
    with pytest.raises(InputError, match="by the server's configuration"):
        members.put(store, "alice@example.org", "viewer")


@pytest.mark.parametrize("email", ["", "nobody", "a b@example.org", "x" * 250 + "@e.org"])
def test_what_is_no_address_is_refused(store: Store, access: TeamAccess, email: str) -> None:
    with pytest.raises(InputError, match="is not an e-mail address"):
        members.put(store, email, "viewer")


@pytest.mark.parametrize("email", ALIKE)
def test_an_address_that_only_looks_like_a_members_is_nobodys(
    store: Store, access: TeamAccess, email: str
) -> None:
    # alice@example.org is an admin, and everybody of example.org may come in.
    who = members.actor(store, access, claims(email))
    assert who.role is None
    assert ALIKE[email] in who.refused
    assert store.members.list() == []
    with pytest.raises(InputError, match=r"is not an e-mail address") as refused:
        members.put(store, email, "viewer")
    assert ALIKE[email] in str(refused.value)
    # Shown so that the letter cannot be taken for another.
    assert str(refused.value).isascii()


@pytest.mark.parametrize("email", FOLDED)
def test_letters_that_case_folding_makes_equal_are_not_the_same(
    store: Store, access: TeamAccess, email: str
) -> None:
    members.put(store, email.casefold(), "lead")
    assert members.actor(store, access, claims(email)).role is None


def test_the_record_is_for_admins_and_its_file_runs_in_no_spreadsheet(
    store: Store, access: TeamAccess
) -> None:
    admin = store.acting(member("admin"))
    members.put(admin, "=cmd@example.org", "viewer")
    with pytest.raises(NotAllowed):
        members.audit_lines(store.acting(member("lead")))
    text = members.audit_csv(admin).decode("utf-8-sig")
    assert text.splitlines()[0].split(",")[:4] == ["id", "at", "actor", "role"]
    assert "=cmd@example.org" in text
    assert not any(cell.startswith("=") for line in text.splitlines() for cell in line.split(","))


def test_alone_on_a_machine_there_are_no_members(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUBRIC_STUDIO_CONFIG", raising=False)
    with pytest.raises(InputError, match="works alone"):
        members.put(store, "ann@example.org", "viewer")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[acess]\n", "acess: is not known here"),
        ("", "access: is missing"),
        (CONFIG.replace('admins = ["Alice@Example.org"]', "admins = []"), "admins: names no one"),
        (CONFIG.replace('"required"', '"off"'), 'login: must be "required"'),
        (CONFIG.replace('"author", "lead"', '"autor"'), "provider 1, roles: is no role"),
        (CONFIG.replace("monthly_usd = 2.0", "monthly_usd = 0"), "monthly_usd: is no number above"),
        (CONFIG.replace('name = "openai"', 'nome = "openai"'), "provider 2, nome: is not known"),
        (CONFIG.replace('models = ["openai/"]', ""), "provider 2, address: is missing"),
        ("[access\n", "is not TOML"),
        (CONFIG.replace("Alice@", "\u0410lice@"), "U+0410 CYRILLIC CAPITAL LETTER A"),
        (CONFIG.replace("Alice@Example.org", "alice@example.org "), "U+0020 SPACE"),
        (CONFIG.replace('["example.org"]', '["ex\u0430mple.org"]'), "allowed_domains: '"),
        (
            CONFIG.replace("session_hours", "allowed_emails = ['a b@c.org']\nsession_hours"),
            "allowed_emails: 'a b@c.org' is not an e-mail address",
        ),
    ],
)
def test_a_configuration_that_is_not_understood_lets_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    with pytest.raises(InputError) as error:
        team(tmp_path, monkeypatch, text)
    assert said in str(error.value)
