"""The typed asyncio client of hindsight, a memory server for agents."""
