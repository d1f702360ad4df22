"""Sessions: what is kept of them, where tasks end, and what looking back leaves."""

from hindsight_memory import Filter, Hindsight, Turn

ERROR = '{"error": "unknown column uid"}'
TASK = (
    Turn("user", "Count the orders of customer 4711 in the orders table."),
    Turn("tool_call", "", tool="sql_query", arguments={"uid": 4711, "table": "orders"}),
    Turn("tool_result", "", tool="sql_query", result=ERROR, is_error=True),
    Turn("tool_call", "", tool="sql_query", arguments={"user_id": 4711, "table": "orders"}),
    Turn("tool_result", "", tool="sql_query", result='{"count": 12}'),
    Turn("assistant", "Customer 4711 has 12 orders."),
)


async def experiences(client: Hindsight) -> list:
    return [m async for m in client.list(Filter(kinds=("experience",)))]


async def test_a_completed_task_becomes_one_experience(client: Hindsight, worker):
    await client.observe("s1", TASK)
    ended = await client.complete_task("s1", outcome="success", request_id="r1")
    assert (await client.complete_task("s1", outcome="success", request_id="r1")) == ended
    await worker()
    [found] = await experiences(client)
    assert "`user_id` worked" in found.value
    session = await client.get_session("s1")
    [task] = session.tasks
    assert (task.id, task.state, task.experience_id, task.boundary) == (ended.task_id, "remembered", found.id, "client")
