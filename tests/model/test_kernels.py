"""Kernel names as they stand in captures and in profiles that people published, against what is known of them."""

import pytest

from tb_profile_plugin.model.names import kernel_table, kernels
from tb_profile_plugin.model.names.kernels import Launch, parse_launch, recognise

KNOWN = [
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "bf16", False),
    ("MemcpyH2D", "CUDA runtime", "", False),
    ("__amd_rocclr_copyBuffer.kd", "ROCm runtime", "", False),
    ("nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT", "cuBLAS", "fp8", True),
    ("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "cuBLAS", "bf16", True),
    ("nvjet_sm90_hss_320x128_64x3_1x2_h_bz_coopA_NNN", "cuBLAS", "fp16", True),
    ("nvjet_sss_tf32_128x256_TNT", "cuBLAS", "tf32", True),
    ("nvjet_ddd_64x32_64x5_v_bz_NNN", "cuBLAS", "", True),
    ("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw_tilesize128x64x8", "cuDNN", "fp32", False),
    ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8", "cuBLAS", "fp32", False),
    ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32", "cuDNN", "fp16", True),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", "cuBLAS", "bf16", True),
    ("sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32", "cuBLAS", "tf32", True),
    ("sm90_xmma_gemm_i8i32_i8i32_i32_tn_n", "cuBLAS", "int8", True),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", "cuDNN", "fp16/bf16", True),
    ("cudnn_generated_fort_native_sdpa_sm100_flash_fprop", "cuDNN", "", True),
    ("void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<int>>>", "FlashAttention", "", False),
    (
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>",
        "FlashAttention",
        "bf16",
        True,
    ),
    ("void cutlass::device_kernel<flash::FlashAttnFwdSm90<2, cutlass::half_t>>", "FlashAttention", "fp16", True),
    ("fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "CUTLASS", "bf16", True),
    ("fmha_cutlassF_f32_aligned_64x64_rf_sm80", "CUTLASS", "fp32", None),
    ("cutlass_80_simt_sgemm_128x128_8x4_nn_align1", "CUTLASS", "fp32", False),
    ("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", "CUTLASS", "tf32", True),
    ("cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", "CUTLASS", "bf16", True),
    ("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align8", "CUTLASS", "bf16", True),
    ("cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16", "CUTLASS", "int8", True),
    ("cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_128x128x128", "CUTLASS", "fp8", True),
    ("cutlass3x_sm100_tensorop_s128x128x8tf32gemm_f32_f32_f32_f32_f32_2sm", "CUTLASS", "tf32", True),
    ("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<SM90_64x128x16>>", "CUTLASS", "", True),
    ("void cutlass::Kernel2<my_epilogue>(T1::Params)", "CUTLASS", "", None),
    ("volta_h884cudnn_256x128_ldg8_relu_exp_small_nhwc_tn_v1", "cuDNN", "fp16", True),
    ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "cuBLAS", "fp16", True),
    ("turing_h1688gemm_256x64_sliced1x2_ldg8_tn", "cuBLAS", "fp16", True),
    ("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", "cuBLAS", "bf16", True),
    ("first_layer_wgrad_kernel", "cuDNN", "fp16", True),
    ("cudnn_generated_fort_native_sm80_convFwd_pointwise_pointwise", "cuDNN", "", None),
    ("maxwell_scudnn_winograd_128x128_ldg1_ldg4_mobile_relu_tile148t_nt_v0", "cuDNN", "fp32", False),
    ("_Z15fft2d_r2c_16x16IfEvP6float2PKT_iiiiiiii", "cuDNN", "fp32", False),
    ("volta_sgemm_128x64_nn", "cuBLAS", "fp32", False),
    ("volta_dgemm_64x64_nn", "cuBLAS", "fp64", False),
    ("sgemm_32x32x32_NN", "cuBLAS", "fp32", False),
    ("void gemv2T_kernel_val<int, int, float, float, float, float, 128>", "cuBLAS", "fp32", False),
    ("Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN", "hipBLASLt", "fp16", True),
    ("Cijk_Alik_Bljk_F8BS_BH_Bias_UserArgs_MT64x64x512_MI16x16x1", "hipBLASLt", "fp8", True),
    ("Cijk_Alik_Bljk_SB_UserArgs_MT64x64x8_SN", "hipBLASLt", "fp32", False),
    ("Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0", "rocBLAS", "bf16", True),
    ("Cijk_Ailk_Bljk_DB_MT64x64x8_SE_K1", "rocBLAS", "fp64", False),
    ("igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", "MIOpen", "fp16", True),
    ("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1", "MIOpen", "fp32", False),
    ("Im3d2Col.kd", "MIOpen", "", False),
    ("_ZN2ck40kernel_gemm_xdl_cshuffle_v3_multi_d_b_preshuffle", "Composable Kernel", "", True),
    ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnor", "Composable Kernel", "", None),
    ("aiter::fmha_fwd_hd128_bf16_causal_rtna_group", "AITER", "bf16", True),
    ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256E", "AITER", "bf16", None),
    ("gemm_fusion_dot_general_1.kd", "XLA, Triton", "", True),
    ("triton_poi_fused_add_mul_silu_23", "Triton", "", False),
    ("triton_tem_fused_mm_3", "Triton", "", None),
    ("loop_transpose_fusion.kd", "XLA", "", False),
    ("_ZN10tensorflow14BiasNHWCKernelIfEEviPKT_S3_PS1_i", "TensorFlow", "fp32", False),
    ("Sqrt_GPU_DT_HALF_DT_HALF_kernel", "TensorFlow", "fp16", False),
    ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", "PyTorch", "fp32", False),
    ("void cub::DeviceReduceKernel<double>", "CUB", "fp64", False),
    ("my_wgmma_kernel", "", "", True),
    ("my_kernel", "", "", None),
]


@pytest.mark.parametrize(("name", "library", "dtype", "tensor_core"), KNOWN, ids=[row[0][:60] for row in KNOWN])
def test_a_kernel_is_recognised(name: str, library: str, dtype: str, tensor_core: bool | None) -> None:
    known = recognise(name)
    assert (known.library, known.dtype, known.tensor_core) == (library, dtype, tensor_core)


def test_each_rule_decides_for_a_real_name_and_has_a_source() -> None:
    deciding = {
        next((rule.pattern for pattern, rule in kernels._rules() if pattern.search(name)), None) for name, *_ in KNOWN
    }
    assert {rule.pattern for rule in kernel_table.RULES} - deciding == set()
    assert all(rule.source for rule in kernel_table.RULES)


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("maxwell_sgemm_128x64_nn", "Maxwell"),
        ("volta_sgemm_128x64_nn", "Volta"),
        ("turing_h1688gemm_256x64", "Turing"),
        ("sm80_xmma_gemm_bf16bf16", "Ampere"),
        ("cutlass_80_tensorop_f16", "Ampere"),
        ("sm89_xmma_gemm_e4m3", "Ada Lovelace"),
        ("sm90_xmma_gemm_bf16", "Hopper"),
        ("cutlass3x_sm100_tensorop_gemm", "Blackwell"),
        ("nvjet_tst_256x128", "Hopper or newer"),
        ("loop_add_fusion", ""),
    ],
)
def test_generation(name: str, generation: str) -> None:
    assert recognise(name).generation == generation


def test_precision_goes_by_the_shape_then_by_the_name() -> None:
    assert kernels.precision("anything", "(half[8,128])") == kernels.COMPUTE_16
    assert kernels.precision("volta_sgemm_128x64_nn", "(int32[3])") == kernels.COMPUTE_32
    assert kernels.precision("ampere_bf16_s16816gemm_bf16_64x64", "(float[2]; bfloat16[2])") == kernels.COMPUTE_16
    assert kernels.precision("my_kernel") == kernels.COMPUTE_OTHER
    assert kernels.precision("cutlass3x_sm90_tensorop_gemm_e4m3_e4m3_f32") == kernels.COMPUTE_OTHER


@pytest.mark.parametrize(
    ("name", "kind", "eligible"),
    [
        ("MatMul", "MatMul", True),
        ("MatMul_1", "", True),
        ("model/dense/Tensordot/MatMul", "MatMul", True),
        ("einsum/Einsum", "Einsum", True),
        ("jit(f)/dot_general", "dot_general", True),
        ("jit(f)/conv_general_dilated", "", True),
        ("block/Conv2D/Conv2DBackpropFilter", "", True),
        ("rnn/CudnnRNNV3", "CudnnRNNV3", True),
        ("model/Relu", "Relu", False),
        ("MatMulHelper", "", False),
    ],
)
def test_ops_that_tensor_cores_could_run(name: str, kind: str, eligible: bool) -> None:
    assert kernels.is_eligible(name, kind) is eligible


def test_launches_in_every_form_that_profilers_write() -> None:
    new = "regs:32 static_shared:16 dynamic_shared:16384 grid:2,1,1 block:32,4,1 occ_pct:50"
    assert parse_launch(new) == Launch(32, 16400, None, (32, 4, 1), (2, 1, 1), 50.0)
    assert parse_launch("regs:120\nshm:12800 grid:2,4,1 block:128,1,1").shared_bytes == 12800
    amd = parse_launch(" grid:4,64,1 block:256,1,1 private_mem:8 group_mem:8704 occ_pct:0")
    assert amd == Launch(None, 8704, 8, (256, 1, 1), (4, 64, 1), None)
    assert parse_launch("regs:x grid:1,2 block:a,1,1 odd:1:2 occ_pct:nan?") == Launch()
