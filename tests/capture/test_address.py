import pytest

from tb_profile_plugin.capture.address import Address, parse
from tb_profile_plugin.runtime.problems import ProblemError


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost:6009", [Address("localhost", 6009)]),
        ("grpc://10.0.0.1:8466 , a-b.c_d.example.:1,", [Address("10.0.0.1", 8466), Address("a-b.c_d.example.", 1)]),
        ("[::1]:6009,grpc://[fe80::1]:2", [Address("::1", 6009), Address("fe80::1", 2)]),
        ("b:2,a:1,b:2", [Address("b", 2), Address("a", 1)]),
    ],
)
def test_addresses_as_people_write_them(text: str, addresses: list[Address]) -> None:
    assert list(parse(text)) == addresses


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "No address"),
        (" , ", "No address"),
        ("localhost", "names no port"),
        ("localhost:", "names no port"),
        ("localhost:http", "names no port"),
        ("localhost:٣", "names no port"),
        ("localhost:0", "1 to 65535"),
        ("localhost:65536", "1 to 65535"),
        ("localhost:6009,:1", "names no port"),
        ("http://localhost:80", "only the prefix grpc://"),
        ("unix:/tmp/socket:1", "only the prefix grpc://"),
        ("dns:///host:1", "only the prefix grpc://"),
        ("a b:1", "names no host"),
        ("a/b:1", "names no host"),
        ("user@host:1", "names no host"),
        ("-a:1", "names no host"),
        ("a..b:1", "names no host"),
        (f"{'a' * 64}:1", "names no host"),
        ("::1:6009", "brackets"),
        ("[::g]:1", "not an IPv6 address"),
        ("[localhost]:1", "not an IPv6 address"),
        (",".join(f"h{number}:1" for number in range(300)), "300 addresses"),
    ],
)
def test_what_is_no_address_is_told(text: str, told: str) -> None:
    with pytest.raises(ProblemError) as raised:
        parse(text)
    assert told in raised.value.problem.message
    assert raised.value.problem.remedy
    assert raised.value.problem.where == "addresses"


def test_for_grpc_for_people_and_for_files() -> None:
    four, six = Address("localhost", 6009), Address("::1", 6009)
    assert (str(four), four.target, four.file_host) == ("localhost:6009", "dns:///localhost:6009", "localhost_6009")
    assert (str(six), six.target, six.file_host) == ("[::1]:6009", "ipv6:[::1]:6009", "___1__6009")
