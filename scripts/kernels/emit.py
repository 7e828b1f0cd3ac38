"""From the module of all kernels to an object file for each platform, by llvmlite alone."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm

_RUNTIME = Path(__file__).with_name("runtime.ll")
_CALLED = ("memcpy", "memmove", "memset", "bzero", "__bzero", "_fltused")
"""What code generation refers to by name."""


def emit(module: llvm.ModuleRef, triple: str) -> bytes:
    """The object file for a target that LLVM names so; the module stays what it was.

    Raises `SystemExit` where the module needs what no process has.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=2, reloc="pic", codemodel="default")
    module = module.clone()
    module.link_in(llvm.parse_assembly(_RUNTIME.read_text()))
    module.triple = triple
    module.data_layout = str(machine.target_data)
    windows = "windows" in triple
    if windows:
        # What its linker asks for where there are floats.
        module.link_in(llvm.parse_assembly("@_fltused = global i32 0"))
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration:
            continue
        if value.name.startswith("tbp_"):
            value.linkage = "external"
            if windows:
                value.storage_class = "dllexport"
        elif value.name in _CALLED:
            value.visibility = "hidden"
        else:
            value.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
    module.verify()
    missing = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    if missing:
        raise SystemExit(f"Kernels need functions that only numba's process has: {', '.join(missing)}.")
    code: bytes = machine.emit_object(module)
    return code
