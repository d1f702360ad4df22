"""How onnxruntime is loaded and run here: one thread a pass, which never spins."""

import os
from pathlib import Path

# Spinning threads made one text take 7.8 s on a busy machine; both libraries read this when they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as failures  # pyright: ignore[reportAttributeAccessIssue]

BROKEN = (
    *(failures.Fail, failures.InvalidArgument, failures.InvalidGraph, failures.InvalidProtobuf, failures.NotImplemented),
    failures.RuntimeException,
)  # what a graph that cannot be run raises


def open_session(graph: Path) -> onnxruntime.InferenceSession:
    """A session whose passes run on their caller's thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
