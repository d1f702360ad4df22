"""The numbered SQL files that make the schema, and whether a database has them."""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

import asyncpg

from hindsight_store.pool import StoreNotReady


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered SQL file."""

    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The hash recorded beside the version."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Every migration of this version, ascending."""
    found = []
    for file in files("hindsight_store").joinpath("migrations").iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found, key=lambda m: m.version)


async def verify_schema(pool: asyncpg.Pool) -> None:
    """Raise StoreNotReady unless the database has exactly this version's schema or a later one."""
    try:
        applied = dict(await pool.fetch("SELECT version, sha256 FROM schema_migrations"))
    except asyncpg.PostgresError as error:
        raise StoreNotReady(f"the schema is not there yet, run hindsight-migrate ({error})") from None
    for migration in migrations():
        if applied.get(migration.version) != migration.sha256:
            raise StoreNotReady(f"migration {migration.version} is missing or differs, run hindsight-migrate")
