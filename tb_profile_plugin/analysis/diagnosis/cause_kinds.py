"""Kinds of a cause, by the names of the events that take its time: each kind has its own sentence and remedy."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.names import host_events
from ...runtime.regex import regex
from ..labels.label_texts import OF_COPIES, OF_LOOP

NAMED_SHARE = 0.15
"""A name, or a kind of names, is told where it takes so much of a cause."""
MOSTLY = 0.5
"""Share of a time from which on something is most of it."""
PAUSE, PYTHON_INPUT, ARGUMENTS = "pause", "python_input", "arguments"
OPTIMIZER = "Optimizer.step"
"""Begin of the ranges that PyTorch makes around the steps of optimizers."""
HAS_FUSED_FORM = regex(r"Optimizer\.step(?:#(?:Adam|AdamW|SGD|Adagrad)\.step)?$")
"""Ranges of the optimizers that PyTorch has in a fused form: torch 2.4 ff., ``fused`` in their parameters."""
_OPTIMIZER = ("optimizer", HAS_FUSED_FORM), ("other_optimizer", regex(r"Optimizer\.step"))
_COMPILED = (
    "compiled",
    regex(
        r".*Compiled(?:Function|FxGraph)|Torch-Compiled|.*torchinductor|TorchDynamo|torch_dynamo_resume_in_"
        r"|call \(c[a-z2-7]{51}\.py"
    ),
)
"""Inductor's code calls its kernels in functions named ``call``, in files that are named after their content."""
_LISTS = "nested_lists", regex(r"array \(array_constructors\.py:\d+\), in (?:lattice_result_type|many short calls)")
"""What JAX looks at of each element, where it makes an array of nested lists."""
READING = "reading"
_READING = (
    READING,
    regex(
        r"(?:.*, in )?(?:load$|load \((?:_pickle\.)?Unpickler\)|(?:from_pretrained|load_(?:file|model|weights)) \("
        r"|_?load(?!s\b)\w* \((?:torch/(?:serialization|_weights_only_unpickler)|(?:numpy/lib/)?_?npyio\w*|pickle"
        r"|json/__init__|joblib/\w+)\.py:)"
    ),
)
"""Calls that read models, arrays or objects of files: ``torch.load``, ``np.load``, ``pickle.load`` and those of other
libraries; not what takes them from memory, as ``json.loads`` and ``load_state_dict`` do.
"""
_COLLECTIVES = (
    ("point_to_point", regex(r"(?:gloo:|nccl:|c10d::)(?:send|recv)")),
    ("gather", regex(r"(?:gloo:|nccl:|c10d::)_?all_?gather|[nr]ccl\w*AllGather")),
    ("barrier", regex(r"(?:gloo:|nccl:|c10d::)barrier")),
    ("broadcast", regex(r"(?:gloo:|nccl:|c10d::)broadcast|[nr]ccl\w*Broadcast")),
)
"""What both the collectives and the calls that ask for them are for, which have one remedy then."""
_ELEMENTWISE = (
    "abs|add|addcdiv|addcmul|clamp|clamp_max|clamp_min|div|erf|exp|lerp|log|log1p|maximum|minimum|mul|neg|pow|reciprocal"
    "|rsqrt|rsub|sigmoid|sqrt|sub|tanh|where"
)
_ELEMENTWISE_TYPES = regex(
    r"(?:Abs|Add|AddV2|AddN|BiasAdd|Cast|ClipByValue|Div|DivNoNan|Elu|EluGrad|Equal|Erf|Exp|Expm1|Greater|GreaterEqual"
    "|LeakyRelu|LeakyReluGrad|Less|LessEqual|Log|Log1p|Logical(?:And|Not|Or)|Maximum|Minimum|Mul|MulNoNan|Neg|NotEqual"
    "|Pow|RealDiv|Reciprocal|Relu6?|Relu6?Grad|Rsqrt|RsqrtGrad|Select|SelectV2|Sigmoid|SigmoidGrad|Softplus"
    "|SoftplusGrad|Sqrt|SqrtGrad|Square|SquaredDifference|Sub|Tanh|TanhGrad)$"
)
"""TensorFlow's types of ops."""
ELEMENTWISE = regex(rf"aten::(?:{_ELEMENTWISE})_?$|.*elementwise_kernel")
NEW_INPUT = ("new_input", host_events.MAKES_INPUT)
"""The kind of input that is made anew, and what TensorFlow calls then."""
WORKERS = (
    "input_workers",
    regex(r".*MultiProcessing|(?:.*, in )?(?:__iter__ \(torch/utils/data/dataloader|get \(multiprocessing/queues)\.py"),
)
"""The kind of input that PyTorch's worker processes make, and what waits for them."""
_FACTORIZATION = regex(
    r"(?:lu|cholesky)(?:\.\d+)?$|aten::_?linalg_(?:inv|lu|solve(?!_triangular)|cholesky)"
    r"|(?:MatrixInverse|MatrixSolve|Cholesky|Lu)$|.*(?:getrf|getri|potrf)"
)
"""Not triangular solves: these are left where a matrix is factorized once."""
_DECOMPOSITION = regex(
    r"(?:svd|eigh?|schur|geqrf|qr|householder_product)(?:\.\d+)?$"
    r"|aten::_?linalg_(?:svd|eig|qr|pinv|lstsq|cond|matrix_norm|matrix_rank)|aten::(?:svd|qr|geqrf)$"
    r"|(?:Batch)?(?:Svd|SelfAdjointEig(?:V2)?|Eig|Qr)$|.*(?:gesv[dj]|gesdd|syev|heev|geqr[f2]|orgqr)"
)
"""Singular values, eigenvalues and orthogonal factors, by XLA's, PyTorch's, TensorFlow's and LAPACK's names."""
_SORTING = regex(
    r"aten::(?:sort|argsort|msort|_?unique\w*|kthvalue|median)$|sort(?:\.\d+)?$|(?:Sort|Unique|UniqueV2)$|.*RadixSort"
)
_SUPPRESSION = regex(r"(?:Combined)?NonMaxSuppression\w*$|torchvision::nms$|.*(?:NMSKernel|nms_kernel)")
"""Boxes that overlap better ones are dropped: each is compared with all that stay."""
_CLASSES = regex(
    r"aten::(?:_?log_softmax|nll_loss|cross_entropy_loss)\w*$|(?:Sparse)?SoftmaxCrossEntropyWithLogits$|LogSoftmax$"
    r"|.*(?:LogSoftMax|nll_loss)"
)
"""Losses that compare each row with all classes."""
_IMAGES = regex(r"Decode(?:AndCrop)?(?:Jpeg|Image|Png|Bmp|Gif|Webp)$|image::decode_\w+$")
_AUGMENTATION = regex(r"ImageProjectiveTransformV[23]$|Adjust(?:Contrastv2|Hue|Saturation)$|(?:HSVToRGB|RGBToHSV)$")
"""Ops that turn, shift and recolour images: of Keras' layers for augmentation, too."""
_RANDOM = regex(
    r"(?:Stateless)?(?:Random|Truncated)(?:Uniform|Normal|StandardNormal)\w*$|.*FillPhiloxRandom"
    r"|.*distribution_(?:elementwise|nullary)|aten::(?:bernoulli|native_dropout|normal|rand|randn|uniform)\w*$"
)
"""Ops and kernels that make random numbers: TensorFlow's and PyTorch's."""
KINDS_IF_LARGEST = (
    *("gather", "barrier", "broadcast", "transfer", "concatenation", "tensor_copies", "factorization", "elementwise"),
    *("suppression", "classes", "images", "augmentation", "random", ARGUMENTS),
)
"""Kinds that every program has some of: told only where no op of another kind takes more."""
AVOIDABLE = (
    *("concatenation", "coalescing", "sorting", "suppression", "images", "augmentation", "random", "text"),
    "tensor_copies",
)
"""Kinds of work that a step can do without: at most all of their time is saved. Products beside a factorization, or a
decomposition, may go with it.
"""
_KINDS_IF_MOST = ("elementwise_types",)
"""Kinds that are told only where they take most of it."""
_KINDS = {
    PAUSE: (
        ("checkpoint", regex(r"(?i).*(?:save|checkpoint|restore|shardedfilename|pickle)|Merge|dumps?\b")),
        ("evaluation", regex(r"(?i).*(?:evaluat|validat|on_test|on_predict)|__inference_")),
        ("summary", regex(r"(?i).*summary|.*Encode(?:Png|Jpeg)")),
        ("printing", regex(r"(?i).*print|StringFormat")),
        ("hook", regex(r"on_\w+")),
    ),
    "input": (
        NEW_INPUT,
        WORKERS,
        (PYTHON_INPUT, regex(r".*PyFunc")),
    ),
    "exposed_collective": _COLLECTIVES,
    "collective_host": _COLLECTIVES,
    "exposed_copy": (
        ("copy_within", regex(r".*(?:DtoD|D2D)")),
        ("copy_back", regex(r".*(?:DtoH|D2H)")),
        ("copy_pageable", regex(r".*Pageable")),
        ("copy_in", regex(r".*(?:HtoD|H2D)")),
    ),
    "compute": (
        ("float32", regex(r".*(?:sgemm|simt|scudnn|f32f32_f32f32_f32|_engine<float)")),
        ("concatenation", regex(r"aten::cat$|.*CatArrayBatchedCopy|ConcatV2$")),
        # Its sorts are part of it.
        ("index_gradient", regex(r".*indexing_backward_kernel")),
        ("coalescing", regex(r"aten::_?coalesce$")),
        ("sorting", _SORTING),
        ("suppression", _SUPPRESSION),
        ("classes", _CLASSES),
        ("images", _IMAGES),
        ("augmentation", _AUGMENTATION),
        ("random", _RANDOM),
        ("text", regex(r"(?:String|RegexFull|RegexReplace|StaticRegex|Unicode|AsString|DecodeCSV|ParseExample)\w*$")),
        ("attention", regex(r"(?i)(?!.*log_?softmax).*softmax|aten::(?:bmm|baddbmm)$")),
        ("tensor_copies", regex(r"aten::(?:copy_|.*\(copies\))$|.*direct_copy_kernel")),
        ("factorization", _FACTORIZATION),
        ("decomposition", _DECOMPOSITION),
        ("elementwise", ELEMENTWISE),
        ("elementwise_types", _ELEMENTWISE_TYPES),
    ),
    "allocator": (("freed", regex(r"(?:cu|cuda|hip)(?:Mem)?Free")),),
    "eager": (*_OPTIMIZER, _COMPILED),
    "python": (
        *_OPTIMIZER,
        _COMPILED,
        _LISTS,
        _READING,
        ("loop", regex(rf".*{OF_LOOP}$")),
        ("encoding", regex(r"(?:.*, in )?(?:dumps?|iterencode|encode|default) \((?:\S*/)?json/")),
        ("indexing", regex(r"(?:.*, in )?(?:__getitem__|__iter__|_chunk_iter|_unstack) \(array\.py:")),
        ("printing", regex(r".*, in (?:print\b|(?:debug|info|warning|error|log) \((?:\S*logging/)?__init__\.py:)")),
    ),
    "unrecorded": (_READING,),
    "between_steps": (NEW_INPUT, _LISTS, _READING),
    "event_wait": (("network", regex(r"(?:.*, in )?(?:recv\w*|accept|connect|do_handshake)\b")),),
    "launch": _OPTIMIZER,
    "dispatch": (
        *_OPTIMIZER,
        _COMPILED,
        ("transfer", regex(r"(?:Batched)?DevicePut\b")),
        (ARGUMENTS, regex(r"cpp_pjit_shard_arg|shard_args$|DevicePutWithSharding$")),
    ),
    "transfer": ((ARGUMENTS, regex(r"CopyToMemorySpace$")),),
}
"""By cause its kinds, in the order in which a name is matched: the first that matches has it. `catalogue` has sentences
for kinds of pauses (``pause.<kind>``), `remedies` what helps against each kind. Names as PyTorch, CUDA's profiler, XLA
and TensorFlow give them.
"""


def kinds(cause: str, names: Iterable[tuple[str, float]], total: float) -> list[str]:
    """The kinds of a cause that take `NAMED_SHARE` of the ``total`` and more, the largest first; ``names`` come with
    their times, in the unit of the total.
    """
    times, largest_other = kind_times(cause, names)
    least = dict.fromkeys(times, NAMED_SHARE * total)
    least |= dict.fromkeys(_KINDS_IF_MOST, MOSTLY * total)
    least |= dict.fromkeys(KINDS_IF_LARGEST, max(NAMED_SHARE * total, largest_other))
    large_kinds = [kind for kind, time in times.items() if time >= least[kind]]
    return sorted(large_kinds, key=lambda kind: -times[kind])


def kind_times(cause: str, names: Iterable[tuple[str, float]]) -> tuple[dict[str, float], float]:
    """(time of each kind of a cause that ``names``, with their times, have; the longest of a name without a kind).

    Copies that an op makes of its own are part of it, so of its kind, if it has one.
    """
    patterns = _KINDS.get(cause, ())
    times: dict[str, float] = {}
    largest_other = 0.0
    for name, time in names:
        own_names = dict.fromkeys((name.removesuffix(OF_COPIES), name))
        kind = next((kind for own in own_names for kind, pattern in patterns if pattern.match(own)), None)
        if kind is None:
            largest_other = max(largest_other, time)
        elif time:
            times[kind] = times.get(kind, 0.0) + time
    return times, largest_other
