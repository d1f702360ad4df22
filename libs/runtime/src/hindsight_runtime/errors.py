"""What can go wrong, as one family of exceptions that the gRPC boundary turns into statuses."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field that was not accepted, as a path inside the request, and what to do about it."""

    field: str
    remedy: str


class HindsightError(Exception):
    """A failure the caller is told about.

    Class attributes: `code` is the name of the gRPC status code, `reason` a name from the ErrorReason enum.
    """

    code = "INTERNAL"
    reason = "INTERNAL"

    def __init__(self, message: str, *, violations: Sequence[FieldViolation] = (), retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.violations = tuple(violations)
        self.retry_after_s = retry_after_s


class InvalidField(HindsightError):
    """A field's value is not accepted."""

    code, reason = "INVALID_ARGUMENT", "INVALID_FIELD"

    def __init__(self, field: str, remedy: str) -> None:
        super().__init__(f"{field}: {remedy}", violations=[FieldViolation(field, remedy)])
        self.field, self.remedy = field, remedy


class Undecodable(HindsightError):
    """The bytes are no message, or more than are read."""

    code, reason = "INVALID_ARGUMENT", "UNDECODABLE"


class BatchRejected(HindsightError):
    """All-or-nothing, and one of a batch was rejected."""

    code, reason = "INVALID_ARGUMENT", "BATCH_REJECTED"


class Unauthenticated(HindsightError):
    """No valid credential; the message is the same whatever is wrong with it."""

    code, reason = "UNAUTHENTICATED", "UNAUTHENTICATED"

    def __init__(self) -> None:
        super().__init__("send a valid key in the metadata or HTTP header 'authorization: Bearer <key>'")


class PermissionDenied(HindsightError):
    """The credential is valid and not enough."""

    code, reason = "PERMISSION_DENIED", "PERMISSION_DENIED"


class NotFound(HindsightError):
    """No such thing within what the caller may see."""

    code, reason = "NOT_FOUND", "NOT_FOUND"


class AlreadyExists(HindsightError):
    """The thing is there already."""

    code, reason = "ALREADY_EXISTS", "ALREADY_EXISTS"


class RequestIdReused(HindsightError):
    """The request id stands for other content."""

    code, reason = "ALREADY_EXISTS", "REQUEST_ID_REUSED"


class RevisionMismatch(HindsightError):
    """Somebody else changed the memory first."""

    code, reason = "ABORTED", "REVISION_MISMATCH"


class Overloaded(HindsightError):
    """A queue or a limit is full."""

    code, reason = "RESOURCE_EXHAUSTED", "OVERLOADED"

    def __init__(self, message: str, *, retry_after_s: float = 0.5) -> None:
        super().__init__(message, retry_after_s=retry_after_s)


class DependencyUnavailable(HindsightError):
    """Something this process needs does not answer."""

    code, reason = "UNAVAILABLE", "DEPENDENCY_UNAVAILABLE"

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message, retry_after_s=retry_after_s)


class ModelMismatch(HindsightError):
    """The stored embeddings and the model in use do not belong together."""

    code, reason = "FAILED_PRECONDITION", "MODEL_MISMATCH"


class InstructionNotAllowed(HindsightError):
    """What was to be stored gives an order, and is not let in without a person's word."""

    code, reason = "FAILED_PRECONDITION", "INSTRUCTION_NOT_ALLOWED"


class DisguisedText(HindsightError):
    """What was to be stored gives an order in disguise, and is not let in without a person's word."""

    code, reason = "FAILED_PRECONDITION", "DISGUISED_TEXT"


class NotConfigured(HindsightError):
    """What was asked for needs something that the operator has not set up."""

    code, reason = "FAILED_PRECONDITION", "NOT_CONFIGURED"


class DeskFull(HindsightError):
    """There is no room on the desk."""

    code, reason = "FAILED_PRECONDITION", "DESK_FULL"

    def __init__(self, remedy: str) -> None:
        super().__init__(f"value: {remedy}", violations=[FieldViolation("value", remedy)])


class DeadlineExceeded(HindsightError):
    """The caller's time was up first."""

    code, reason = "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"


class Unimplemented(HindsightError):
    """The method does not exist here."""

    code, reason = "UNIMPLEMENTED", "UNIMPLEMENTED"

    def __init__(self) -> None:
        super().__init__("this server has no such method; compare the versions of client and server")


class StartFailed(Exception):
    """The process cannot start; the message says why and what to do."""
