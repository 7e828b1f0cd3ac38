"""Names of events as sentences have them."""

from __future__ import annotations

from functools import lru_cache

from ...formats.columns import vocabulary
from ...model.names import op_names, short_kernel_names
from ...runtime.regex import regex

_FRAME = regex(r"\$(?:(?P<file>\S+\.py):(?P<line>\d+)|(?P<module>\S+)) (?P<name>.+)")
_BUILT_IN = regex(r"\$?<built-in (?:function|method) (?P<name>\S+?)(?: of (?P<owner>.+?)(?: object at 0x[0-9a-f]+)?)?>")
"""A function in C as PyTorch's profiler has it, with the address of what it is called on."""
MODULE_FRAME = f"${vocabulary.TORCH_MODULE}"
"""Begin of the frames in which modules of PyTorch are called."""
_NO_MODULES = ("<unknown>", "builtins")
"""What TensorFlow's tracer says of methods in C, and where functions of the language itself are."""
_INSTANCE_NUMBER = regex(r"_\d+$")
_COMPILED_NAME = regex(r"_Z|(?=.*<).*::|[nr]ccl\w*\(")
"""A kernel's name as compilers write it, with template arguments or parameters."""
_INSTRUCTION = regex(r"%([\w.-]+) = ")
"""An instruction of XLA in full, as TPUs name their ops."""


_CALLBACK = regex(r"(\w+_callback)\.\d+")
"""Each place where a program of XLA calls Python is an op of its own, and all of them are one thing to a reader."""
_BACKEND = regex(r"(?:gloo|nccl|mpi|ucc|xccl):")
"""PyTorch's backends of communication stand before what they do."""
_COMPILED_GRAPH = regex(r"## Call (CompiledFxGraph \w{1,8})\w* ##")
"""What PyTorch's compiler makes is named by a hash of it."""
_MOST_LETTERS, _END_LETTERS = 80, 16
"""So many letters a name has, and so many of its end if it is cut: kernels have their sizes before that."""
_MOST_SHORT_LETTERS, _MOST_SHORT_WORDS = 48, 5
"""So long names are in headlines."""
_OPENING = {">": regex(r"\b<"), ")": regex(r"\b\(")}
"""Where template arguments or parameters begin, by the sign that ends them and the name."""
_CALLEE_SOURCE = regex(r"(?<=, in )([^()]+) \([^()]+\)$")
"""Where the function is that the named one calls, or of what; of the two, the other one's place is of more use."""
_CALLEE = regex(r", in [^,]+$")
"""What the named function calls."""
_DIRECTORIES = regex(r"(?<= \()[^() ]+/(?=[^()/ ]+\.py:\d+\)$)")
"""Of the file that a function is in."""
_EAGER_CALL = regex(rf"{vocabulary.EAGER_OP_CALL}(?:__inference_(?P<function>.+)_\d+|(?P<op>\w+))$")
"""TensorFlow's call of a function that it traced, or of a single op."""
_OF_RUNTIME = regex(r"ExecutorState::|ThunkExecutor::|BufferSequencingEvent::|(?:Common)?P[Jj][Rr]t\w*::")
"""Functions of TensorFlow's executor and of XLA's runtimes, which run whatever a program asks for."""
_UNNAMED = {"function": "tf.function"}
"""What TensorFlow calls a function that was made of an object without a name: ``python/eager/polymorphic_function``."""
_CUT = "…"


def is_of_runtime(name: str) -> bool:
    """Whether an event is a function inside of a runtime, whose name tells a reader nothing of the program."""
    return bool(_OF_RUNTIME.match(name))


@lru_cache(maxsize=65536)
def display_name(name: str) -> str:
    """What an event is to a reader: an op's type, a Python frame as ``function (file.py:12)`` or ``time.sleep``.

    Kernels have their short names. Numbers that tell functions' instances apart are left out; those of XLA's ops stay,
    since they are different ops, but for callbacks. What is very long loses its middle.
    """
    return _without_middle(_full_text(name), _MOST_LETTERS, _END_LETTERS)


def _full_text(name: str) -> str:
    if _BACKEND.match(name):
        return name
    if name in _UNNAMED:
        return _UNNAMED[name]
    called = _EAGER_CALL.match(name)
    if called:
        return called["op"] or called["function"]
    callback = _CALLBACK.fullmatch(name)
    if callback:
        return callback[1]
    built_in = _BUILT_IN.fullmatch(name)
    if built_in:
        return f"{built_in['name']} ({built_in['owner']})" if built_in["owner"] else built_in["name"]
    if name.startswith(MODULE_FRAME):
        return _INSTANCE_NUMBER.sub("", name.removeprefix(MODULE_FRAME))
    frame = _FRAME.fullmatch(name)
    if frame:
        if frame["file"]:
            return f"{frame['name']} ({frame['file']}:{frame['line']})"
        return frame["name"] if frame["module"] in _NO_MODULES else f"{frame['module']}.{frame['name']}"
    match = _INSTRUCTION.match(name) or _COMPILED_GRAPH.fullmatch(name)
    if match:
        return match[1]
    if _COMPILED_NAME.match(name):
        return short_kernel_names.family(name)
    op = op_names.parse(name)
    if op.is_known and op.type and not op.is_dataset:
        return op.type
    return _INSTANCE_NUMBER.sub("", name) or name


def short_name(name: str) -> str:
    """A name as `display_name` gives it, in at most 48 letters and five words, as headlines have it.

    What is longer loses what PyTorch puts before ``#``, where what it calls is, directories, what it calls, its
    template arguments and its parameters; then its middle.
    """
    text = (name.rpartition("#")[2] if _is_long(name) else name) or name
    text = _CALLEE_SOURCE.sub(r"\1", text) if _is_long(text) else text
    text = _DIRECTORIES.sub("", text) if _is_long(text) else text
    text = _CALLEE.sub("", text) if _is_long(text) else text
    text = _without_arguments(text) if _is_long(text) else text
    words = text.split()
    if len(words) > _MOST_SHORT_WORDS:
        text = " ".join([*words[: _MOST_SHORT_WORDS - 2], _CUT, words[-1]])
    # Of what has lost its middle the end stays whole.
    end = min((_MOST_SHORT_LETTERS - 1) // 2, len(text.rpartition(_CUT)[2]))
    return _without_middle(text, _MOST_SHORT_LETTERS, end)


def _without_middle(text: str, letters: int, end: int) -> str:
    """The text in at most so many letters, of which so many are its end: that tells names apart, and ends sentences."""
    return text if len(text) <= letters else text[: letters - 1 - end] + _CUT + text[len(text) - end :]


def _without_arguments(text: str) -> str:
    """The text without the template arguments or parameters that end it."""
    opening = _OPENING.get(text[-1:])
    begin = opening.search(text) if opening else None
    return text[: begin.start()] if begin else text


def _is_long(text: str) -> bool:
    return len(text) > _MOST_SHORT_LETTERS or len(text.split()) > _MOST_SHORT_WORDS
