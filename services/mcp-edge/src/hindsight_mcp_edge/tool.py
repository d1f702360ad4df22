"""What a tool is: its name, schema and description, and what it does with checked arguments."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from hindsight_memory import Hindsight

from hindsight_mcp_edge.fields import Field, to_schema

Arguments = Mapping[str, Any]
Confirm = Callable[[str], Awaitable[bool]]  # asks the person at the client; True where it cannot be asked
Act = Callable[[Hindsight, Arguments, Confirm], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `act` answers structured content that fits `output`; the flags are hints to clients; `renames` are what its
    arguments are called where the services call them otherwise."""

    name: str
    title: str
    description: str
    fields: Sequence[Field]
    output: Mapping[str, Any]
    act: Act
    is_reading: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)

    def definition(self) -> types.Tool:
        """What clients are told about it."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=to_schema(self.fields),
            output_schema=dict(self.output),
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.is_reading,
                destructive_hint=self.is_destructive,
                idempotent_hint=self.is_idempotent,
                open_world_hint=False,
            ),
        )
