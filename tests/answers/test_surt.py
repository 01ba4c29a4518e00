"""The keys of addresses equal those of the Internet Archive's canonicalizer."""

from __future__ import annotations

import time

import pytest

from lshdb.answers.surt import surt


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://example.com", "com,example)/"),
        ("example.com/x", "com,example)/x"),
        ("https://WWW2.Example.org:443/A/../b/?y=2&x=1#top", "org,example)/b?x=1&y=2"),
        ("http://example.com:8080/x//y/./z/", "com,example:8080)/x/y/z"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://user:pw@example.com/a", "com,example)/a"),
        ("http://example.com/?", "com,example)/"),
        ("http://example.com/?foo=", "com,example)/?foo="),
        ("http://example.com/../../x", "com,example)/x"),
        ("http://example.com/../x", "com,example)/../x"),
        ("http://h.org//..", "org,h)/"),
        ("http://example.com/%7Efoo/%20bar baz", "com,example)/~foo/%20bar%20baz"),
        ("http://example.com/a%23b", "com,example)/a%23b"),
        ("http://example.com/%2525", "com,example)/%25"),
        ("http://bücher.de/ä", "de,xn--bcher-kva)/%c3%a4"),
        ("http://a.org/?jsessionid=0123456789abcdef0123456789abcdef", "org,a)/"),
        ("http://a.org/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&z=2", "org,a)/?x=1&z=2"),
        ("http://a.org/(S(abcdefghijabcdefghij0123))/page.aspx?q=1", "org,a)/page.aspx?q=1"),
        ("http://a..b/x", "b,a)/x"),
        ("http://1.2.3.4/x", "4,3,2,1)/x"),
        ("http://[::1]:8080/x", "::1:8080)/x"),
        ("http://http://example.com/x", "com,example)/x"),
        ("dns:archive.org", "dns:archive.org"),
        ("urn:some:id", "urn:some:id"),
        ("http://a.org/\ud800", "org,a)/%ed%a0%80"),
    ],
)
def test_addresses_that_servers_treat_alike_have_one_key(address: str, expected: str) -> None:
    assert surt(address) == expected


@pytest.mark.parametrize(
    "part", ["%25" * 20_000, "%" + "25" * 30_000, "/.." * 20_000, "sid=" * 15_000, "((a(" * 15_000]
)
def test_a_hostile_address_takes_no_long_time(part: str) -> None:
    started = time.process_time()
    surt(f"http://a.org/{part}?{part}")
    assert time.process_time() - started < 2
