"""Find the address of a client behind proxies, and the network that its failures are counted for."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_HOP = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+|(.+)")  # a proxy may add a port


class TrustedProxies:
    """The trusted proxies in front of the service, which report the client's address.

    >>> proxies = TrustedProxies(["127.0.0.1"])
    >>> proxies.client("127.0.0.1", [(b"x-forwarded-for", b"10.1.2.3, 192.0.2.7")])
    '192.0.2.7'
    >>> proxies.client("198.51.100.1", [(b"x-forwarded-for", b"192.0.2.7")])
    '198.51.100.1'
    """

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks: list[IPv4Network | IPv6Network] = [ip_network(text) for text in networks]

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the client's address: the nearest hop that is not a trusted proxy.

        Hops before this one are ignored, because the client can write any address there.
        """
        if not self._networks or not self._trusts(peer):
            return peer
        lines = [value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for"]
        nearest = peer
        for hop in reversed(",".join(lines).split(",")):
            address = _address(hop)
            if address is None:
                break
            nearest = str(address)
            if not self._trusts(nearest):
                break
        return nearest

    def is_secure(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a trusted proxy reports that the client used HTTPS."""
        said = [value.strip().lower() for name, value in headers if name == b"x-forwarded-proto"]
        return said == [b"https"] and bool(self._networks) and self._trusts(peer)

    def _trusts(self, text: str) -> bool:
        address = _address(text)
        return address is not None and any(address in network for network in self._networks)


def network_of(address: str) -> str:
    """Return the network that failures are counted for: an IPv4 address, or the IPv6 network of a client.

    >>> network_of("192.0.2.7"), network_of("2001:db8::7")
    ('192.0.2.7', '2001:db8::/64')
    """
    found = _address(address)
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else address


def _address(text: str) -> IPv4Address | IPv6Address | None:
    found = _HOP.fullmatch(text.strip())
    if found is None:
        return None
    bracketed, with_port, bare = found.groups()
    try:
        address = ip_address(bracketed or with_port or bare)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
