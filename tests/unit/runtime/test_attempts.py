"""How many wrong credentials an address may try."""

import pytest
from hindsight_runtime import attempts
from hindsight_runtime.attempts import Attempts, peer_address

KNOWN, NEW = b"known", b"new"


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def failing(limit: int, times: int, clock: Clock) -> Attempts:
    counted = Attempts(limit, clock=clock)
    for _ in range(times):
        counted.fail("10.0.0.7")
    return counted


def test_the_limit_bars_unknown_credentials_of_that_address_until_the_window_ends():
    clock = Clock()
    counted = failing(20, 19, clock)
    assert counted.barred_s("10.0.0.7", NEW) == 0
    clock.now_s += 10
    counted.fail("10.0.0.7")
    assert (counted.barred_s("10.0.0.7", NEW), counted.barred_s("10.0.0.8", NEW)) == (50, 0)
    clock.now_s += 50
    assert counted.barred_s("10.0.0.7", NEW) == 0
    counted.fail("10.0.0.7")
    assert counted.barred_s("10.0.0.7", NEW) == 0


def test_a_credential_seen_valid_goes_on_from_a_barred_address():
    clock = Clock()
    counted = failing(20, 20, clock)
    counted.succeed(KNOWN)
    assert (counted.barred_s("10.0.0.7", KNOWN), counted.barred_s("10.0.0.7", NEW)) == (0, 60)
    clock.now_s += attempts.KNOWN_S
    for _ in range(20):
        counted.fail("10.0.0.7")
    assert counted.barred_s("10.0.0.7", KNOWN) == 60


def test_a_peer_without_an_address_is_never_barred():
    counted = Attempts(1)
    counted.fail("")
    assert counted.barred_s("", NEW) == 0


def test_what_is_remembered_stays_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(attempts, "ADDRESSES", 10)
    monkeypatch.setattr(attempts, "KNOWN", 10)
    counted = Attempts(1)
    for number in range(100):
        counted.fail(f"10.0.0.{number}")
        counted.succeed(bytes([number]))
    assert (len(counted._failed), len(counted._known)) == (10, 10)
    assert (counted.barred_s("10.0.0.89", NEW), counted.barred_s("10.0.0.90", NEW) > 0) == (0, True)


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:10.0.0.7:4711", "10.0.0.7"),
        ("ipv6:[::1]:4711", "::"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:4711", "2001:db8:1:2::"),
        ("ipv6:[::ffff:10.0.0.7]:4711", "10.0.0.7"),
        ("ipv6:[fe80::1%25eth0]:4711", "fe80::"),
        ("unix:/tmp/s", ""),
        ("unix:", ""),
        ("", ""),
    ],
)
def test_a_peer_counts_by_its_address_or_its_ipv6_network(peer: str, address: str):
    assert peer_address(peer) == address
