"""A training loop on an NVIDIA GPU, on an AMD one and on a TPU: planes, lines and stats as their profilers write them.

What needs a real device is tested on these, and again on real captures where some lie beside the checkout.
"""

from typing import Any

import draw

STEPS = 4
_HEAP = "bytes_reserved=0, peak_bytes_in_use=6000, data_type=1, region_type=dynamic, addr=4096, shape='[32,32]'"

NVIDIA = f"""
/host:CPU
  python3 | train[0,900]{{_r=1, step_num=s}}  FunctionRun[60,200]{{id=5, _pt=1, _p=70+s}}
  tf_Compute/77 | ExecutorState::Process[70,700]{{id=5, _ct=1, _c=70+s}}  dense/MatMul:MatMul[100,80]{{is_eager=0}}
  | cuLaunchKernel[110,8]{{c=1, context_id=$$1}} cuLaunchKernel[130,8]{{c=2, context_id=$$1}}
  | cuMemcpyHtoDAsync[90,5]{{c=3, memcpy_details='size:4096 dest:0 async:1'}} cuLaunchKernel[150,8]{{c=4}}
  tf_GPU_Event_Manager/9 | MemoryAllocation[80,0]{{allocator_name=GPU_0_bfc, bytes_allocated=5000, bytes_available=3000,
  | fragmentation=0.25, requested_bytes=4000, allocation_bytes=4096, tf_op='dense/MatMul', {_HEAP}}}
  | MemoryDeallocation[850,0]{{allocator_name=GPU_0_bfc, bytes_allocated=904, bytes_available=7096, fragmentation=0.0,
  | requested_bytes=4000, allocation_bytes=4096, {_HEAP}}}
/device:GPU:0 {{clock_rate=1410000, core_count=108, memory_bandwidth=1555200000000u, memory_size=42505273344u,
  compute_cap_major=8, compute_cap_minor=0, device_vendor=Nvidia}}
  Stream #34(Compute) | ampere_sgemm_128x64_nn[200,300]{{c=1, context_id=$$1, annotation=&'dense/MatMul:MatMul',
  | kernel_details=&'regs:122 static_shared:0 dynamic_shared:16384 grid:8,4,1 block:256,1,1 occ_pct:25',
  | tf_op=&'dense/MatMul:MatMul'}}
  | ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nn[500,100]{{c=2, context_id=$$1,
  | tf_op=&'dense_1/MatMul:MatMul',
  | kernel_details=&'regs:98 static_shared:0 dynamic_shared:49152 grid:4,4,1 block:128,1,1 occ_pct:37.5'}}
  | ncclDevKernel_AllReduce_Sum_f32_RING_LL[620,120]{{c=4, tf_op=&'CollectiveReduceV2:CollectiveReduceV2',
  | kernel_details=&'regs:96 static_shared:0 dynamic_shared:0 grid:2,1,1 block:512,1,1 occ_pct:0'}}
  Stream #35(MemcpyH2D) | MemcpyH2D[120,40]{{c=3, context_id=$$1, memcpy_details='size:4096 dest:0 async:1'}}
  Steps | train[200,540]{{group_id=s, step_name=train}}
  TensorFlow Ops | dense/MatMul:MatMul[200,300]{{group_id=s}} dense_1/MatMul:MatMul[500,100]{{group_id=s}}
"""
"""Two layers and an all-reduce by TensorFlow; one product on tensor cores, one not; a block held from step to step."""

AMD = """
/host:CPU
  Host Threads/2356 | hipModuleLaunchKernel[110,8]{device_id=768u, c=1, hlo_op=&loop_add_fusion, hlo_module=&jit_step}
  | hipExtModuleLaunchKernel[140,9]{device_id=768u, c=2, hlo_op=&custom-call.1, hlo_module=&jit_step}
  | hipMemcpyHtoDAsync[90,5]{device_id=768u, c=3, memcpy_details=&'kind:HtoD size:4096 dest:512 async:1'}
  python | train[0,900]{_r=1, step_num=s} PjitFunction(step)[50,300]
  py_xla_callback/5438 | MemoryAllocation[95,0]{allocator_name=GPU_0_bfc, bytes_allocated=75497984, fragmentation=0.5,
  | bytes_available=154530741760, requested_bytes=16777216, allocation_bytes=16777216, bytes_reserved=0, data_type=0,
  | peak_bytes_in_use=595591680, addr=139917264945152, id=0}
/device:GPU:0 {device_vendor=AMD, clock_rate=2100000, core_count=304, memory_bandwidth=2662400000000u,
  memory_size=206141652992u, compute_cap_major=9, compute_cap_minor=4}
  Stream #16(Kernel) | loop_add_fusion.kd[200,100]{c=1, hlo_op=&loop_add_fusion, hlo_module=&jit_step, program_id=19,
  | tf_op=&'XlaModule:', name=&'jit(step)/add',
  | kernel_details=&' grid:4096,1,1 block:256,1,1 private_mem:0 group_mem:16 occ_pct:50'}
  | Cijk_Ailk_Bljk_BBS_BH_MT256x128x32_MI16x16x16x1[310,400]{c=2, hlo_op=&custom-call.1, hlo_module=&jit_step,
  | program_id=19, tf_op=&'XlaModule:', name=&'jit(step)/dot_general',
  | kernel_details=&' grid:4,64,1 block:256,1,1 private_mem:0 group_mem:28672 occ_pct:0'}
  Stream #17(Kernel) | __amd_rocclr_copyBuffer.kd[120,40]{c=3,
  | kernel_details=&' grid:1,1,1 block:512,1,1 private_mem:0 group_mem:0 occ_pct:0'}
Task Environment {profile_start_time=1771595660705918620u, profile_stop_time=1771595660745575712u}
"""
"""A step of JAX: a fusion, a product by a library and a copy."""

_INSTRUCTIONS = {
    "fusion.1": "f32[8,128,256]{2,1,0:T(8,128)} fusion(f32[8,128,256]{2,1,0} %param.0), kind=kLoop, calls=%fused",
    "convolution.2": "f32[8,128,256]{2,1,0:T(8,128)} convolution(f32[8,128,256]{2,1,0} %fusion.1)",
    "all-reduce.3": "f32[8,128,256]{2,1,0:T(8,128)} all-reduce(f32[8,128,256]{2,1,0} %convolution.2), channel_id=1",
    "copy-start.4": "(f32[8,128,256]{2,1,0}, u32[]{:S(2)}) copy-start(f32[8,128,256]{2,1,0} %all-reduce.3)",
}
_OPS = {name: f"%{name} = {text}" for name, text in _INSTRUCTIONS.items()}
_SHARED = "program_id=7001u, symbol_id=1u, source='train.py:12', shape_with_layout='f32[8,128,256]{2,1,0:T(8,128)}'"
_CORE = f"""{{device_type_string='TPU v6 Lite', peak_teraflops_per_second=918.0, has_megacore=0, has_merged_vmem=1,
  peak_hbm_bw_gigabytes_per_second=1637.993152512, peak_vmem_rd_bw_gigabytes_per_second=23296.0}}
  XLA Modules | jit_step(7001)[200,600]{{run_id=1u, replica_id=0, queue_id=0u, core_type=0u, _ct=12, _c=70+s}}
  XLA Ops | {_OPS["fusion.1"]}[200,100]{{device_offset_ps=200000000u, device_duration_ps=100000000u}}
  | {_OPS["convolution.2"]}[300,300] {_OPS["all-reduce.3"]}[600,150]{{all_reduce_unique_id=1u}}
  Async XLA Ops | {_OPS["copy-start.4"]}[640,150]{{hlo_op=copy-done, flow=9u, id=0u}}
  Overlay |
  XLA TraceMe | barrier-cores[600,30]"""
_LINE_IDS = {"XLA Modules": 2, "XLA Ops": 3, "Async XLA Ops": 4, "XLA TraceMe": 6, "Overlay": 7}

TPU = f"""
/device:TPU:0 {_CORE}
/device:TPU:1 {_CORE}
/host:CPU {{matrix_unit_utilization_percent=30.0}}
  main/3116817 | train[0,900]{{_r=1, step_num=s}} PjitFunction(step)[50,300] TpuExecute[100,20]{{_pt=12, _p=70+s}}
  EventFDAsyncWorker/3118193 | tpu::System::TransferToDevice=>IssueEvent=>Done[20,18]{{size=4096, _ct=7, _c=9}}
  | MemoryAllocation[40,0]{{index_on_host=0, bytes_reserved=0, bytes_allocated=31744, bytes_available=33550205952,
  | id=0, fragmentation=0.0, peak_bytes_in_use=31744, requested_bytes=512, allocation_bytes=512, data_type=0,
  | addr=33550205952}}
"""
"""A step of JAX on two cores: a fusion, a convolution, an all-reduce and a copy beside them."""


def nvidia() -> Any:
    """The XSpace message of `NVIDIA`."""
    return draw.space(_joined(NVIDIA), STEPS)


def amd() -> Any:
    """The XSpace message of `AMD`, with its program."""
    said = {"loop_add_fusion": "fusion/kLoop jit(step)/add:", "custom-call.1": "custom-call jit(step)/dot_general:"}
    return draw.program(draw.space(_joined(AMD), STEPS), 19, "jit_step", **said)


def tpu() -> Any:
    """The XSpace message of `TPU`, each op's figures with its metadata as there."""
    drawn = draw.space(_joined(TPU), STEPS)
    for line in (line for plane in drawn.planes for line in plane.lines):
        line.id = _LINE_IDS.get(line.name, line.id)
    for name, category, flops, op in [
        ("fusion.1", "loop fusion", 262144, "jit(step)/jit(main)/add:"),
        ("convolution.2", "convolution", 67108864, "jit(step)/jit(main)/dot_general:"),
        ("all-reduce.3", "all-reduce", 262144, "jit(step)/jit(main)/psum:"),
        ("copy-start.4", "copy-start", 0, ""),
    ]:
        figures = f"hlo_category='{category}', flops={flops}, model_flops={flops}, bytes_accessed=2097152"
        draw.metadata(drawn, name, f"{figures}, raw_bytes_accessed=2097152, tf_op='{op}', {_SHARED}")
    return drawn


def many_kernels(many: int) -> Any:
    """The XSpace message of a GPU that runs so many different kernels, ``kernel_0`` …, each for an op of its own."""
    drawn = draw.space(
        "/host:CPU\n  main | step[0,900]{_r=1, step_num=1}\n"
        "/device:GPU:0 {device_vendor=Nvidia}\n"
        "  Stream #13(Compute) | kernel_0[100,9]{tf_op=op_0:MatMul, kernel_details='regs:8'}"
    )
    plane = drawn.planes[1]
    key_of = {stat.name: key for key, stat in plane.stat_metadata.items()}
    for number in range(1, many):
        key = 1000 + number
        plane.event_metadata[key].id, plane.event_metadata[key].name = key, f"kernel_{number}"
        begin, duration = (100 + 10 * number) * 10**6, (1 + number * 7919 % 5000) * 10**3
        event = plane.lines[0].events.add(metadata_id=key, offset_ps=begin, duration_ps=duration)
        event.stats.add(metadata_id=key_of["tf_op"], str_value=f"op_{number}:MatMul")
        event.stats.add(metadata_id=key_of["kernel_details"], str_value="regs:8")
    return drawn


def _joined(text: str) -> str:
    """Without the breaks that keep its lines short: a row that does not begin one goes on where the last one ended."""
    return text.replace(",\n  | ", ", ").replace(",\n  ", ", ")


PROGRAMS = {"nvidia": nvidia, "amd": amd, "tpu": tpu}
