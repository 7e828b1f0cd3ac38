"""What kernels are called for short: demangled, without what their names have in common, told apart where they differ.

``void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<… TensorConversionOp<Eigen::half, … float const …`` is
``Eigen cast float→half``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...runtime.records import NamedTuple
from ...runtime.regex import regex, without_end
from .demangle import LONGEST_NAME, demangle

_MOST_LETTERS = 64
"""Letters of a short name; longer ones are cut."""
_MOST_DEPTH = 60
"""Templates within one another that are read."""
_SUFFIX = regex(r"(?: \[clone [^\[\]]*\]|\.kd|\.private\.\w+)+")
_WRAPPERS = frozenset(
    "kentry kernel_entry device_kernel Kernel Kernel2 kernel_wrapper elementwise_kernel cutlass_kernel".split()
)
"""Templates of libraries that only start what their arguments name."""
_ELEMENTWISE, _OTHER_LAUNCHERS = "elementwise_kernel", ("reduce_kernel", "multi_tensor_apply_kernel")
"""PyTorch's kernels that apply a functor to tensors, by which they are told apart: a part of their names, and names."""
_ADAPTERS = frozenset(
    "gpu_kernel_impl gpu_kernel_impl_nocast gpu_index_kernel BinaryFunctor AUnaryFunctor BUnaryFunctor UnaryFunctor "
    "ReduceOp func_wrapper_t _cuda_scatter_gather_internal_kernel".split()
)
"""Templates around PyTorch's functors."""
_NO_FUNCTORS = regex(
    r"[Aa]rray|TensorListMetadata|\w*OffsetCalculator|(?:Load|Store)With\w+|OpaqueType|-?\d+|true|false|"
    r"(?:unsigned )?(?:bool|char|u?int\d*|short|long|float|double|half|b?float16|Half|BFloat16)"
)
"""Arguments of such kernels that say how tensors are read and their types, not what is done to their elements."""
_NAMED_KERNEL = regex(r"cutlass_\w+")
"""A wrapper's only argument that is a kernel and no type: ``cutlass::Kernel2<cutlass_80_wmma_…>``."""
_CAST = regex(r"^\([\w: ]+\)(?=[\w-])")
"""The type before a value: ``(char)1``."""
_TYPES = {
    "Eigen::half": "half",
    "Eigen::bfloat16": "bfloat16",
    "long long": "int64",
    "long": "int64",
    "unsigned char": "uint8",
    "__half": "half",
    "__nv_bfloat16": "bfloat16",
    "std::bfloat16_t": "bfloat16",
}
_FUNCTORS = ("scalar_right", "scalar_left")
"""Functors of Eigen that give another one argument."""
_TILE = regex(r"Cijk_\w+?_MT\d+x\d+x\d+")
_INSTRUCTION = regex(r"_MI\d+(?:x\d+)*")
"""In names of Tensile's kernels: types and the tile; the matrix instruction."""


class Template(NamedTuple):
    """A name with its template arguments."""

    name: str
    args: tuple[Template, ...]

    @property
    def leaf(self) -> str:
        """The name without its scopes."""
        return self.name.rpartition("::")[2]


@lru_cache(maxsize=65536)
def full_name(name: str) -> str:
    """The name as a programmer would write it."""
    return without_end(_SUFFIX, demangle(name)) if len(name) <= LONGEST_NAME else name


@lru_cache(maxsize=65536)
def family(name: str) -> str:
    """What a kernel is called for short; kernels that differ only in sizes or index types may share it."""
    text = full_name(name)
    if len(text) > LONGEST_NAME:
        return text[:_MOST_LETTERS] + "…"
    tile = _TILE.match(text)
    if tile:
        instruction = _INSTRUCTION.search(text, tile.end())
        return tile[0] + (instruction[0] if instruction else "")
    tree = _parse(text.removeprefix("void "))
    if tree is None or not tree.name:
        return text
    if tree.name.startswith("Eigen::internal::EigenMetaKernel") and tree.args:
        return f"Eigen {_eigen_expression(tree.args[0])}".strip()
    if _ELEMENTWISE in tree.leaf or tree.leaf in _OTHER_LAUNCHERS:
        return _with_arguments(tree.leaf, _torch_functors(tree))
    return _function_text(tree)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A different short name for each of the names: its family, and where several share that, what tells them apart."""
    groups: dict[str, dict[str, None]] = {}
    for name in names:
        groups.setdefault(family(name), {})[name] = None
    return {
        name: text
        for family_name, members in groups.items()
        for name, text in _distinct_names(family_name, list(members)).items()
    }


def _distinct_names(family_name: str, names: list[str]) -> dict[str, str]:
    """A different text for each of these names, whose family is ``family_name``."""
    if len(names) == 1:
        return {names[0]: family_name}
    words = [_words(full_name(name)) for name in names]
    common = set(words[0]).intersection(*words[1:])
    short_names: dict[str, str] = {}
    count_of_text: dict[str, int] = {}
    for name, own_words in zip(names, words, strict=True):
        difference = " ".join([word for word in own_words if word not in common and word not in family_name][:2])
        text = f"{family_name} ({difference})" if difference else family_name
        count_of_text[text] = count_of_text.get(text, 0) + 1
        short_names[name] = text if count_of_text[text] == 1 else f"{text} #{count_of_text[text]}"
    return short_names


def _words(text: str) -> list[str]:
    """The words of letters and digits, each once, in order."""
    return list(dict.fromkeys(word for word in re.split(r"[^A-Za-z0-9]+", text) if word))


def _parse(text: str) -> Template | None:
    """The function's name and template arguments; parameters are left out."""
    stack: list[tuple[str, list[Template]]] = [("", [])]
    begin = 0
    closed: Template | None = None

    def close(end: int) -> None:
        nonlocal closed
        word = text[begin:end].strip()
        if closed is not None:
            stack[-1][1].append(Template(closed.name + word if word.startswith("::") else closed.name, closed.args))
        elif word:
            stack[-1][1].append(Template(word, ()))
        closed = None

    parentheses = 0
    for i, letter in enumerate(text):
        if len(stack) > 1 and letter in "()":
            parentheses += 1 if letter == "(" else -1
        elif parentheses:
            # Parameters of a function in which a type is made, such as that of a lambda.
            continue
        elif letter == "<":
            if len(stack) > _MOST_DEPTH:
                return None
            # A member of a template: what comes before is a part of its name.
            scope, closed = closed.name if closed is not None else "", None
            stack.append((scope + text[begin:i].strip(), []))
            begin = i + 1
        elif letter in ">,":
            if len(stack) == 1:
                return None
            close(i)
            begin = i + 1
            if letter == ">":
                template_name, args = stack.pop()
                closed = Template(template_name, tuple(args))
        elif letter == "(" and len(stack) == 1 and text[i - 1 : i] != ":" and not text.startswith("(anon", i):
            close(i)
            break
    else:
        close(len(text))
    return stack[0][1][0] if len(stack) == 1 and stack[0][1] else None


def _bare_type(name: str) -> str:
    """A type or a value without scopes, pointers and const; of a lambda the function that it stands in."""
    value = _CAST.sub("", name.replace("(anonymous namespace)::", ""))
    function = value.partition("(")[0] or value
    bare = re.sub(r"\bconst\b|[&*]", "", function).strip()
    return _TYPES.get(bare, bare.rpartition("::")[2])


def _function_text(tree: Template, depth: int = 0) -> str:
    """A function by its own name and those of its arguments, or by what it only starts."""
    first_template = next((arg for arg in tree.args if arg.args), None)
    if tree.leaf in _WRAPPERS and first_template is not None and depth < _MOST_DEPTH:
        return _function_text(first_template, depth + 1)
    arguments = list(dict.fromkeys(_bare_type(arg.name) for arg in tree.args))
    if tree.leaf in _WRAPPERS and len(arguments) == 1 and _NAMED_KERNEL.match(arguments[0]):
        return arguments[0]
    return _with_arguments(tree.leaf, arguments)


def _with_arguments(name: str, arguments: list[str]) -> str:
    """A template with its arguments, or with so many of the first as are not too long."""
    text = f"{name}<{', '.join(arguments)}>" if arguments else name
    while len(text) > _MOST_LETTERS and arguments:
        arguments = arguments[:-1]
        text = f"{name}<{', '.join([*arguments, '…'])}>"
    return text


def _torch_functors(kernel: Template) -> list[str]:
    """What one of PyTorch's kernels does to elements, and the type of the first functor's."""
    functors = [functor for arg in kernel.args if (functor := _torch_functor(arg))]
    types = [_bare_type(arg.name) for functor in functors[:1] for arg in functor.args[:1] if not arg.args]
    names = [_functor_name(functor) for functor in functors]
    return list(dict.fromkeys(name for name in (*names, *types) if not name.isdigit()))


def _torch_functor(tree: Template) -> Template | None:
    """The functor that an argument is, or has as its own argument; None where it is none."""
    name = _functor_name(tree)
    if name in _ADAPTERS:
        functors = filter(None, map(_torch_functor, tree.args))
        return next(functors, tree)
    return None if _NO_FUNCTORS.fullmatch(name) else tree


def _functor_name(tree: Template) -> str:
    return _bare_type(tree.name.partition("::operator")[0])


def _eigen_expression(tree: Template) -> str:
    """What one of Eigen's assignments computes, and on what type."""
    node = tree
    while node.leaf in ("TensorEvaluator", "TensorAssignOp", "TensorEvalToOp") and node.args:
        templates = [arg for arg in node.args if arg.args]
        if not templates:
            break
        # An assignment's second argument is what is assigned.
        node = templates[1] if node.leaf == "TensorAssignOp" and len(templates) > 1 else templates[0]
    if node.leaf == "TensorConversionOp" and node.args:
        return f"cast {_element_type(node.args[1:])}→{_bare_type(node.args[0].name)}"
    word = re.sub(r"^Tensor|Op$", "", node.leaf)
    functor = node.args[0] if node.args and word.startswith(("Cwise", "Reduction", "Tuple")) else None
    if functor is not None:
        word = _eigen_functor(functor)
    return f"{word.lower()} {_element_type(node.args)}".strip()


def _eigen_functor(functor: Template) -> str:
    while functor.leaf in _FUNCTORS and any(arg.args for arg in functor.args):
        functor = next(arg for arg in functor.args if arg.args)
    return re.sub(r"^scalar_|_op$|Reducer$", "", functor.leaf)


def _element_type(trees: Iterable[Template]) -> str:
    """The type of the first tensor that is read."""
    pending = list(trees)[::-1]
    for _ in range(1000):
        if not pending:
            return ""
        node = pending.pop()
        if node.leaf in ("Tensor", "TensorFixedSize") and node.args:
            return _bare_type(node.args[0].name)
        pending.extend(node.args[::-1])
    return ""
