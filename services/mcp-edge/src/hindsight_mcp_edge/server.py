"""The MCP server: tools, resources and prompts, whatever the transport."""

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote

import mcp_types as types
import structlog
from hindsight_memory import Hindsight, HindsightError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError, NoBackChannelError

from hindsight_mcp_edge import results, texts
from hindsight_mcp_edge.calls import Calls
from hindsight_mcp_edge.fields import Refused, name_type, read_arguments, refuse_characters, shown
from hindsight_mcp_edge.memory_tools import to_argument
from hindsight_mcp_edge.tool import Tool

NAME = "hindsight"
DISTRIBUTION = "hindsight-mcp-edge-service"
URI_PREFIX = "memory://"
ANSWER_NAME = "confirm"  # of the question in a round trip

log = structlog.get_logger()
Context = ServerRequestContext[Any, Any]


class _Asks(Exception):
    """The call needs the person's answer, which the client sends with the call repeated."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


class Edge:
    """Answers MCP requests. `connect` gives the connection of the caller a request comes from."""

    def __init__(self, tools: Sequence[Tool], connect: Callable[[Context], Hindsight], *, log_content: bool = False) -> None:
        self.calls = Calls()
        self._tools = {tool.name: tool for tool in tools}
        self._connect = connect
        self._log_content = log_content
        self._definitions = [tool.definition() for tool in tools]

    def make_server(self) -> Server[Any]:
        """A protocol server that answers with this edge."""
        schemas = {tool.name: tool.input_schema for tool in self._definitions}
        server: Server[Any] = Server(
            NAME,
            version=version(DISTRIBUTION),
            title="hindsight: long-term memory 长期记忆",
            instructions=texts.instruct(self._tools),
            get_tool_input_schema=schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
        )
        server.middleware.append(self._count)
        return server

    async def _count(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        with self.calls.one():
            return await call_next(ctx)

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._definitions)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """The tool's answer, or an error that tells the model what to do next."""
        tool, given = self._tools.get(params.name), params.arguments or {}
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"unknown tool '{shown(params.name)}'; there are: {known}")
        try:
            self._log_call(tool, given)
            content = await tool.act(self._connect(context), read_arguments(tool.fields, given), _confirm(context, params))
        except _Asks as asks:
            return types.InputRequiredResult(input_requests={ANSWER_NAME: _to_request(asks.question)})
        except Refused as refused:
            return _fail(tool, "INVALID_FIELD", str(refused), fields=refused.fields)
        except HindsightError as error:
            fields = {to_argument(name, tool.renames): remedy for name, remedy in error.fields.items()}
            message = "; ".join(f"{name}: {remedy}" for name, remedy in fields.items()) or error.message
            return _fail(tool, error.reason, message, fields=fields, retry_after_s=error.retry_after_s)
        except Exception as failure:  # the one boundary: a model gets an answer it can use, never a traceback
            incident = secrets.token_hex(6)
            log.error("tool failed", tool=tool.name, incident=incident, exc_info=failure)
            return _fail(tool, "INTERNAL", f"internal error, incident {incident}; the operator finds it in the log")
        log.info("answered tool", tool=tool.name, **({"content": content} if self._log_content else {}))
        return types.CallToolResult(content=[_to_block(content)], structured_content=content)

    def _log_call(self, tool: Tool, given: Mapping[str, Any]) -> None:
        known = {field.name for field in tool.fields}
        shapes = {name: _shape(value) for name, value in given.items() if name in known}
        content = {"arguments": shown_json(given)} if self._log_content else {}
        log.info("calling tool", tool=tool.name, fields=shapes, unknown_fields=len(given) - len(shapes), **content)

    async def _read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        agent_id, slash, memory_id = params.uri.removeprefix(URI_PREFIX).partition("/")
        if not params.uri.startswith(URI_PREFIX) or not slash:
            raise MCPError(types.INVALID_PARAMS, f"a resource's URI is {URI_PREFIX}{{agent_id}}/{{memory_id}}")
        try:
            agent_id, memory_id = (_readable(unquote(part)) for part in (agent_id, memory_id))
            memory = await self._connect(context).get(memory_id, agent_id=agent_id)
        except (HindsightError, Refused) as error:
            reason = error.reason if isinstance(error, HindsightError) else "INVALID_FIELD"
            raise MCPError(
                types.INVALID_PARAMS, f"{error} ({texts.NEXT.get(reason, texts.NEXT_OTHERWISE)})", {"reason": reason}
            ) from None
        text = _to_json(results.from_memory(memory))
        contents = [types.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)]
        return types.ReadResourceResult(contents=list(contents))


def _readable(text: str) -> str:
    if remedy := refuse_characters(text):
        raise Refused({"uri": remedy})
    return text


def _confirm(context: Context, params: types.CallToolRequestParams) -> Callable[[str], Awaitable[bool]]:
    """How to ask the person: in a round trip in the newest era, by a request in older ones, not at all where neither works."""

    async def confirm(question: str) -> bool:
        answer = (params.input_responses or {}).get(ANSWER_NAME)
        if isinstance(answer, types.ElicitResult):
            return answer.action == "accept"
        if not _can_ask(context.session.client_capabilities):
            return True
        if not context.session.can_send_request:
            raise _Asks(question)
        try:
            asked = await context.session.elicit_form(question, _QUESTION_SCHEMA, related_request_id=context.request_id)
        except NoBackChannelError:
            return True
        return asked.action == "accept"

    return confirm


def _can_ask(capabilities: types.ClientCapabilities | None) -> bool:
    ways = capabilities.elicitation if capabilities else None
    return ways is not None and (ways.form is not None or ways.url is None)  # naming none means forms


_QUESTION_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}  # accepting or declining is the whole answer


def _to_request(question: str) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=question, requested_schema=_QUESTION_SCHEMA))


def _fail(
    tool: Tool, reason: str, message: str, *, fields: Mapping[str, str] | None = None, retry_after_s: float | None = None
) -> types.CallToolResult:
    log.info("refused tool", tool=tool.name, reason=reason, retry_after_s=retry_after_s)
    error: dict[str, Any] = {"error": reason, "message": message}
    error |= {"fields": fields} if fields else {}
    error |= {"retry_after_s": retry_after_s} if retry_after_s is not None else {}
    error["next"] = texts.NEXT.get(reason, texts.NEXT_OTHERWISE)
    return types.CallToolResult(content=[_to_block(error)], is_error=True)


def _to_block(content: Mapping[str, Any]) -> types.TextContent:
    return types.TextContent(text=_to_json(content))


def _to_json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False)


def shown_json(value: Any) -> str:
    """A client's own JSON, printable whatever it holds."""
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()


def _shape(value: Any) -> str:
    """A value's type and size, for the log."""
    return f"{name_type(value)}[{len(value)}]" if isinstance(value, str | list | dict) else name_type(value)


async def _list_resources(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])


async def _list_templates(context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        name="memory",
        title="One memory 一条记忆",
        uri_template=URI_PREFIX + "{agent_id}/{memory_id}",
        description="One memory as JSON, with its source, times and metadata. 一条记忆的完整内容（JSON）。",
        mime_type="application/json",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


PROMPT = types.Prompt(
    name="recall_first",
    title="Recall first 先回忆再回答",
    description="Ask with what is remembered as context. 先查询记忆，再回答问题。",
    arguments=[
        types.PromptArgument(name="agent_id", description="Whose memory 谁的记忆", required=True),
        types.PromptArgument(name="question", description="The question 问题", required=True),
    ],
)


async def _list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[PROMPT])


async def _get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    missing = [argument.name for argument in PROMPT.arguments or () if not given.get(argument.name, "").strip()]
    if params.name != PROMPT.name or missing:
        wanted = f"give {', '.join(missing)}" if params.name == PROMPT.name else f"there is one prompt, '{PROMPT.name}'"
        raise MCPError(types.INVALID_PARAMS, wanted)
    text = texts.RECALL_FIRST.format(agent=given["agent_id"], question=given["question"])
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=PROMPT.description, messages=[message])
