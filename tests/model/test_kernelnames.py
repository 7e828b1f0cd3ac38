"""Kernels by names that people can read: demangled, short, and different where the kernels are."""

import pytest

from tb_profile_plugin.model.names.demangle import demangle
from tb_profile_plugin.model.names.short_kernel_names import family, full_name, short_names

CAST = (
    "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::TensorMap<Eigen::Tensor"
    "<{to}, 1, 1, {index}>, 16, Eigen::MakePointer>, Eigen::TensorConversionOp<{to}, Eigen::TensorMap<Eigen::Tensor"
    "<{of} const, 1, 1, {index}>, 16, Eigen::MakePointer> const> const> const, Eigen::GpuDevice>, {index}>({index})"
)
MANGLED = {
    "_Z11flip_filterIffEvPT0_PKT_iiii": "flip_filter<float, float>",
    "_ZN10tensorflow7functor15RowReduceKernelIPKfPfN3cub3SumEEEvT_T0_iiT1_NSt15iterator_traitsIS7_E10value_typeE": (
        "tensorflow::functor::RowReduceKernel<float const*, float*, cub::Sum>"
    ),
    "_ZN10tensorflow18_GLOBAL__N__36_abc22GenerateNormalizedProbIffLi4EEEvPKT_": (
        "tensorflow::(anonymous namespace)::GenerateNormalizedProb<float, float, 4>"
    ),
    "_Z15fft2d_c2r_16x16IfLb0EEvPT_P6float2iii": "fft2d_c2r_16x16<float, false>",
    "_ZN7ck_tile6kentryILi1ENS_7KernelAIDF16bNS_8sequenceIJLi1ELi2EEEES3_EEEEvT0_": (
        "ck_tile::kentry<1, ck_tile::KernelA<bfloat16, ck_tile::sequence<1, 2>, ck_tile::sequence<1, 2>>>"
    ),
    "_Z1fIN1a1bE10someEnum_tEvT_.kd": "f<a::b, someEnum_t>",
}


@pytest.mark.parametrize("name", MANGLED)
def test_names_are_demangled(name: str) -> None:
    assert demangle(name) == MANGLED[name]


@pytest.mark.parametrize(
    "name",
    ["gemm", "_Z", "_ZN", "_Z9short", "_Z1fIS9_Evv", "_Z1fI" * 300, "_Z" + "9" * 40, "_Z1fIXsr1aEEvv", "_Z1fILi1"],
)
def test_what_cannot_be_read_stays(name: str) -> None:
    assert demangle(name) == name


def test_substitutions_that_double_are_given_up() -> None:
    pair = "".join(f"1aIS{'' if i == 0 else chr(47 + i)}_S{'' if i == 0 else chr(47 + i)}_E" for i in range(9))
    assert len(demangle(f"_Z1fI1bI1cE{pair}Evv")) < 25_000


SHORT = {
    CAST.format(to="Eigen::half", of="float", index="long"): "Eigen cast float→half",
    CAST.format(to="float", of="bool", index="int"): "Eigen cast bool→float",
    "_Z11flip_filterIffEvPT0_PKT_iiii": "flip_filter<float>",
    "void tensorflow::functor::FillPhiloxRandomKernelLaunch<tensorflow::random::UniformDistribution<a, b> >(int)": (
        "FillPhiloxRandomKernelLaunch<UniformDistribution>"
    ),
    "void ck_tile::kentry<ck_tile::gfx950_t, 1, ck_tile::FmhaFwdKernel<ck_tile::Pipe<int> > >(int) [clone .kd]": (
        "FmhaFwdKernel<Pipe>"
    ),
    "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0_APM1": "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1",
    "loop_add_fusion.kd": "loop_add_fusion",
    "ampere_sgemm_128x64_nn": "ampere_sgemm_128x64_nn",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(cutlass_80::Params)": (
        "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8"
    ),
    "void at::native::vectorized_elementwise_kernel<4, at::native::where_kernel_impl(at::Iterator&, c10::Scalar)::"
    "{lambda()#2}::operator()() const::{lambda(bool, c10::Half)#1}, at::detail::Array<char*, 3> >(int)": (
        "vectorized_elementwise_kernel<where_kernel_impl>"
    ),
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 3> >(int)": (
        "vectorized_elementwise_kernel<MulFunctor, float>"
    ),
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<long> >"
    "(at::TensorIteratorBase&)::{lambda(int)#1}>(int)": "elementwise_kernel<CUDAFunctor_add, int64>",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
    "at::native::sum_functor<float, float>::operator()(at::TensorIterator&)::{lambda(float)#1}>, unsigned int, "
    "float, 4> >(int)": "reduce_kernel<sum_functor, float>",
    "void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<"
    "true, float>::operator()<at::native::ReduceAdd>(at::TensorIterator&)::{lambda(int)#1}>(int)": (
        "_scatter_gather_elementwise_kernel<ReduceAdd>"
    ),
    "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<1>, at::native::BinaryOpScalarFunctor<"
    "float, 1, 1, 0>, std::multiplies<float>, float>(int)": (
        "multi_tensor_apply_kernel<BinaryOpScalarFunctor, multiplies, …>"
    ),
    "void kernel<&(anonymous namespace)::run, (cudnnKernelDataType_t)2>(int)": "kernel<run, 2>",
    "weird<": "weird<",
}


@pytest.mark.parametrize("name", SHORT)
def test_short_names(name: str) -> None:
    assert family(name) == SHORT[name]
    assert len(full_name(name)) <= len(name) + 20


def test_short_names_tell_kernels_apart() -> None:
    names = [CAST.format(to="Eigen::half", of="float", index=index) for index in ("long", "int")]
    names += ["gemm_a.kd", "gemm_a", f"{SHORT['loop_add_fusion.kd']}_1.kd"]
    found = short_names(names)
    assert len(set(found.values())) == len(names)
    assert [found[name] for name in names[:2]] == ["Eigen cast float→half (long)", "Eigen cast float→half (int)"]
