"""One database address made from another."""

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

PERSONAL = ("user", "password", "passfile")


def with_user(dsn: str, user: str, password: str) -> str:
    """The same database as another user."""
    parts = urlsplit(dsn)
    hosts = parts.netloc.rpartition("@")[2]
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name not in PERSONAL])
    return parts._replace(netloc=f"{quote(user, safe='')}:{quote(password, safe='')}@{hosts}", query=query).geturl()


def with_database(dsn: str, database: str) -> str:
    """Another database on the same server as the same user."""
    return urlsplit(dsn)._replace(path=f"/{quote(database, safe='')}").geturl()
