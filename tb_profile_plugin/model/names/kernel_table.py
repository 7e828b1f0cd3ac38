"""The table of kernel names: a kernel's library, whether it runs on tensor cores, the type of numbers it works on.

The first rule whose pattern is found in a name decides. ``source`` says where the knowledge comes from: a public
naming rule, or profiles that people published, in which such names stand. "Tensor core" includes AMD's matrix cores.
"""

from __future__ import annotations

from ...runtime.records import NamedTuple

FP8, INT8, BF16, FP16, HALF, TF32, FP32, FP64 = "fp8", "int8", "bf16", "fp16", "fp16/bf16", "tf32", "fp32", "fp64"
"""Types of the multiplied numbers; `HALF` where the name tells only the width."""


class Rule(NamedTuple):
    """What is known of kernels whose names match a pattern."""

    pattern: str
    """Regular expression, case-sensitive, searched anywhere in the name."""
    library: str
    tensor_core: bool | None
    """Whether it runs on tensor cores; None where such a name does not show it."""
    source: str
    dtype: str = ""
    """Type of numbers; empty where `DTYPES` decides."""


_XPROF = "names that TensorFlow's and XLA's profilers count as tensor core kernels"
_CUBLAS = "names in published profiles of cuBLAS and cuBLASLt"
_CUDNN = "names in published profiles of cuDNN 7 to 9"
_CUTLASS = "naming rules in CUTLASS's documentation of its profiler"
_FLASH = "kernel sources and published profiles of FlashAttention 2 to 4"
_AITER = "names in published profiles of vLLM and SGLang on MI300X"
_TENSILE = "naming rules of Tensile: problem type, then macro tile, then MI for matrix instructions"
_XLA = "names that XLA gives to its fusions"
_MMA = r"(?:[hs]884|[hsc]1688|[hs]16816|i8816|i16832|d884|[sih]161616)"


def _followed_by(begin: str, end: str, between: str = r"\w") -> str:
    """As ``begin``, any number of ``between``, and ``end``, but begun once: there is no further ``begin`` between."""
    return rf"{begin}(?:(?!{begin}){between})*?{end}"


_ARCH = r"(?:kepler|maxwell|pascal|volta|turing|ampere|ada|hopper)"

RULES: tuple[Rule, ...] = (
    # What moves data
    Rule(r"^[nr]ccl|ncclDevKernel|ncclKernel", "NCCL", False, "names in NCCL's sources; RCCL keeps them"),
    Rule(r"^Mem(?:cpy|set)", "CUDA runtime", False, "activity names of CUPTI"),
    Rule(r"__amd_rocclr_", "ROCm runtime", False, "helper kernels of AMD's runtime, seen on MI300X"),
    # cuBLASLt's generated kernels: letters for A and B, then for accumulator and result
    Rule(r"nvjet_(?:sm\d+_)?qq", "cuBLAS", True, _CUBLAS, FP8),
    Rule(r"nvjet_(?:sm\d+_)?t[a-z]+_", "cuBLAS", True, _CUBLAS, BF16),
    Rule(r"nvjet_(?:sm\d+_)?h[a-z]+_", "cuBLAS", True, _CUBLAS, FP16),
    Rule(r"nvjet_(?:sm\d+_)?sss_", "cuBLAS", True, _CUBLAS, TF32),
    Rule(r"nvjet_", "cuBLAS", True, _CUBLAS),
    # XMMA: only plain fp32 in and out runs on the ordinary cores
    Rule(_followed_by("xmma_", _followed_by("implicit_gemm", "_f32f32_f32f32")), "cuDNN", False, _CUDNN, FP32),
    Rule(r"xmma_gemm_f32f32_f32f32", "cuBLAS", False, _CUBLAS, FP32),
    Rule(_followed_by("xmma_", "(?:implicit_gemm|sparse_conv|cudnn)"), "cuDNN", True, _XPROF),
    Rule(r"xmma_(?:sparse_)?gemm", "cuBLAS", True, _XPROF),
    # Attention
    Rule(_followed_by("cudnn_generated_fort_native_sdpa", "mma_f16"), "cuDNN", True, _CUDNN, HALF),
    Rule(r"cudnn_generated_fort_native_sdpa", "cuDNN", True, _CUDNN),
    Rule(
        r"FlashAttnFwdCombine|splitkv_combine|flash_bwd_(?:dot_do_o|convert|clear)|FlashAttnBwdP|prepare_varlen",
        "FlashAttention",
        False,
        _FLASH,
    ),
    Rule(r"flash_(?:fwd|bwd)_|FlashAttn(?:Fwd|Bwd)Sm|FlashAttention(?:For|Back)ward", "FlashAttention", True, _FLASH),
    Rule(r"fmha_cutlass[FB]_b?f16", "CUTLASS", True, "kernel names of memory-efficient attention in xFormers"),
    Rule(r"fmha_cutlass[FB]_f32", "CUTLASS", None, "kernel names of memory-efficient attention in xFormers", FP32),
    # CUTLASS
    Rule(_followed_by("cutlass", "_simt_"), "CUTLASS", False, _CUTLASS),
    Rule(r"cutlass_[89]\d_tensorop_s1688(?:gemm|fprop|dgrad|wgrad)_\d", "CUTLASS", True, _CUTLASS, TF32),
    Rule(_followed_by("cutlass", "tensorop"), "CUTLASS", True, _CUTLASS),
    Rule(_followed_by(r"cutlass::\w", r"(?:GMMA|UMMA|SM90_\d+x|SM100_MMA)", "."), "CUTLASS", True, _CUTLASS),
    Rule(r"cutlass::", "CUTLASS", None, _CUTLASS),
    # cuDNN and cuBLAS, told by the shape of the matrix instruction
    Rule(_followed_by(_MMA, "(?:cudnn|fprop|dgrad|wgrad)"), "cuDNN", True, _XPROF),
    Rule(rf"{_MMA}", "cuBLAS", True, _XPROF),
    Rule(
        r"conv1x1|conv2d_c1_k1|dgrad_1x1_stride_2x2|direct_group|first_layer_wgrad_kernel", "cuDNN", True, _XPROF, FP16
    ),
    Rule(r"cudnn_generated_fort_native|generatedNativePointwise", "cuDNN", None, _CUDNN),
    Rule(r"cudnn|implicit_convolve|winograd|fft2d_[rc]2|flip_filter", "cuDNN", False, _CUDNN),
    Rule(
        rf"{_ARCH}_(?:gc|zg|[sdhcz])gemm|^[sdhcz]gemm_\d|"
        + _followed_by("gemv", "_kernel")
        + "|gemv2|splitKreduce|gemmSN_|gemmk1_|cublas",
        "cuBLAS",
        False,
        _CUBLAS,
    ),
    # AMD
    Rule(_followed_by("Cijk_", _followed_by("UserArgs", r"_MI\d")), "hipBLASLt", True, _TENSILE),
    Rule(_followed_by("Cijk_", "UserArgs"), "hipBLASLt", False, _TENSILE),
    Rule(_followed_by("Cijk_", r"_MI\d"), "rocBLAS", True, _TENSILE),
    Rule(r"Cijk_", "rocBLAS", False, _TENSILE),
    Rule(r"igemm_(?:fwd|bwd|wrw)_gtcx", "MIOpen", True, "names of MIOpen's assembly kernels; gtcx is for matrix cores"),
    Rule(r"miopen|MIOpen|naive_conv_|Im[23]d2Col|Col2Im[23]d", "MIOpen", False, "names in MIOpen's sources"),
    Rule(
        _followed_by(r"(?:\bck::|_ZN2ck)", _followed_by("kernel_", "(?:xdl|wmma)"), ".")
        + "|"
        + _followed_by("ck_tile", "(?:FmhaFwdKernel|FmhaFwdSplitKVKernel|DQDKDV|GemmKernel)", "."),
        "Composable Kernel",
        True,
        "kernel names in Composable Kernel's sources",
    ),
    Rule(r"\bck::|_ZN2ck|ck_tile", "Composable Kernel", None, "kernel names in Composable Kernel's sources"),
    Rule(
        _followed_by("aiter", "(?:fmha|gemm|mla_)", "."),
        "AITER",
        True,
        _AITER,
    ),
    Rule(r"\baiter::|_ZN5aiter", "AITER", None, _AITER),
    # Compilers
    Rule(r"gemm_fusion_dot|triton_gemm", "XLA, Triton", True, _XPROF),
    Rule(r"^triton_(?:poi|red|per|for|softmax)_", "Triton", False, "prefixes in PyTorch's Inductor and in XLA"),
    Rule(r"^triton_", "Triton", None, "prefixes in PyTorch's Inductor and in XLA"),
    Rule(r"(?:^|_)fusion(?:_\d+)*(?:\.kd)?$|^wrapped_\w+", "XLA", False, _XLA),
    # Frameworks' own kernels
    Rule(r"tensorflow::|_ZN10tensorflow|Eigen::|_ZN5Eigen", "TensorFlow", False, "namespaces in TensorFlow's sources"),
    Rule(_followed_by("_GPU_DT_", "_kernel"), "TensorFlow", False, "names of TensorFlow's kernels generated by MLIR"),
    Rule(r"at::native|_ZN2at6native", "PyTorch", False, "namespaces in PyTorch's sources"),
    Rule(r"cub::|thrust::|_ZN3cub|_ZN6thrust", "CUB", False, "namespaces in CUB's and Thrust's sources"),
    # Names that only tell the instruction
    Rule(r"hmma|wgmma|tcgen05|(?<![a-zA-Z])imma", "", True, "instructions of NVIDIA's PTX and SASS"),
)

DTYPES: tuple[tuple[str, str], ...] = (
    (r"e4m3|e5m2|fp8|float8|Cijk_A\w{3}_B\w{3}_[FB]8", FP8),
    (r"i8816|i16832|i161616|(?<![a-z])imma|int8|(?<![a-z0-9])s8(?![a-z0-9])|i8i|Cijk_A\w{3}_B\w{3}_(?:4x)?[iI]8", INT8),
    (r"bf16|bfloat|Cijk_A\w{3}_B\w{3}_B|DF16b", BF16),
    (r"tf32", TF32),
    (
        r"half|fp16|float16|(?<![a-z])f16|DT_HALF|[hs]884|[hs]1688|[hs]16816|[hs]161616|hmma|hgemm|hcudnn"
        r"|Cijk_A\w{3}_B\w{3}_H|DF16_",
        FP16,
    ),
    (r"double|fp64|(?<![a-z])f64|float64|[dz]gemm|d884|Cijk_A\w{3}_B\w{3}_[DZ]", FP64),
    (r"\bfloat\b|[sc]gemm|[sc]cudnn|fp32|(?<![a-z])f32|float32|DT_FLOAT|Cijk_A\w{3}_B\w{3}_[SC]", FP32),
)
"""Marks of a type in a kernel's name, the most telling first: names also hold the accumulator's and the result's."""

MANGLED_DTYPES: tuple[tuple[str, str], ...] = (
    ("f", FP32),
    ("d", FP64),
    ("6__half", FP16),
    ("N5Eigen4halfE", FP16),
    ("NS_4halfE", FP16),
    ("13__nv_bfloat16", BF16),
    ("N5Eigen8bfloat16E", BF16),
)
"""Template arguments in names that were left mangled."""

GENERATIONS: tuple[tuple[str, str], ...] = (
    (r"kepler", "Kepler"),
    (r"maxwell|sm_?5\d", "Maxwell"),
    (r"pascal|sm_?6\d", "Pascal"),
    (r"volta|[sS]m_?70|cutlass_70", "Volta"),
    (r"turing|[sS]m_?75|cutlass_75", "Turing"),
    (r"[sS]m_?89", "Ada Lovelace"),
    (r"ampere|[sS]m_?8\d|cutlass_8\d", "Ampere"),
    (r"[sS]m_?1[0-2]\d", "Blackwell"),
    (r"hopper|[sS]m_?90|wgmma|GMMA", "Hopper"),
    (r"nvjet_", "Hopper or newer"),
    (r"gfx9", "CDNA"),
)
"""Which generation of GPUs a kernel was built for; newer ones run it too."""

LAYOUT_CHANGES: tuple[tuple[str, str], ...] = (
    (r"transpose(?!d_conv)|Transpose(?!Conv)", "names in XLA, MIOpen, cuBLAS and PyTorch"),
    (r"SwapDimension\d|ShuffleInTensor3", "names in TensorFlow's sources"),
    (r"nchwToNhwc|nhwcToNchw|nchw2nhwc|nhwc2nchw|tensorTransformGeneric", "names in published profiles of cuDNN"),
    (r"Im[23]d2Col|Col2Im[23]d|im2col|col2im", "names in MIOpen's and Caffe's sources"),
)
"""Kernels that only put arrays into another order, for the kernel that follows; with the source of that knowledge."""
