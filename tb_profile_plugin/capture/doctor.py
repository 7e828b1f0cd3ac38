"""Checks of this machine for what prevents captures, each finding with its remedy.

A finding of severity ``info`` is fine; the others say what to do.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ..runtime.messages import Message
from ..runtime.problems import Problem
from .address import parse
from .job import ping

_FRAMEWORKS = ("tensorflow", "tensorflow-cpu", "tf-nightly", "jax", "jaxlib", "torch_xla")
_OWN_PACKAGE = "tb-profile-plugin"
_CUDA_DRIVERS = {11: (450, 80), 12: (525, 60), 13: (580, 65)}
"""The oldest driver that runs programs of each CUDA, by its first two numbers."""
_CAP_SYS_ADMIN = 1 << 21
"""Its bit among a process's capabilities."""
_LEAST_FREE_BYTES = 100_000_000
"""Bytes that a disk should have free for a capture."""


def machine_findings(root: Path = Path("/")) -> list[Problem]:
    """The findings about this machine and this Python; `root` is where its system's files lie."""
    return [*_framework_findings(), *_gpu_findings(root), *_tensorboard_findings()]


def server_findings(addresses: str) -> list[Problem]:
    """Whether profilers answer at the addresses; raises `ProblemError` for what is no address."""
    servers = parse(addresses)
    findings = zip(servers, ping(servers), strict=True)
    return [problem or _ok("answers", Message("A profiler answers."), str(address)) for address, problem in findings]


def logdir_findings(
    searched: Sequence[str], captures: int, event_files: int, near_misses: Sequence[str]
) -> Iterator[Problem]:
    """What a look at a logdir found, in words, and whether a capture could be written there."""
    for folder in searched:
        yield _folder_finding(folder)
    where = ", ".join(searched)
    if captures:
        yield _ok(
            "captures", Message("It holds {count, plural, one {# capture} other {# captures}}.", count=captures), where
        )
    else:
        remedy = Message("Run tb-profile capture ADDRESS LOGDIR, or try tb-profile capture --demo LOGDIR.")
        yield Problem("no_captures", "The logdir holds no capture.", remedy, where, "warning")
    if event_files and not captures:
        message = Message(
            "The logdir holds event files but no profile: Keras 3's callback does not profile by default."
        )
        remedy = Message("Choose batches: tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(10, 20)).")
        yield Problem("no_profile_batch", message, remedy, where, "warning")
    for miss in near_misses:
        path, _, reason = miss.partition(": ")
        # That a folder does not exist is said above.
        if reason and path not in searched:
            yield Problem(
                "near_miss",
                Message("No capture was found, but a near miss: {reason}.", reason=reason),
                "Look for files that end in .xplane.pb or .pt.trace.json elsewhere.",
                path,
                "warning",
            )


def _folder_finding(path: str) -> Problem:
    """Whether captures can be written to a folder of a logdir."""
    if "://" in path:
        return _ok("remote", Message("The logdir is on another machine; captures cannot be written to it."), path)
    if not os.path.exists(path):
        return Problem("no_logdir", "The logdir does not exist.", "Check the path; a capture creates the folder.", path)
    if not os.path.isdir(path):
        return Problem("no_folder", "The logdir is a file.", "Name its folder instead.", path)
    if not os.access(path, os.W_OK | os.X_OK):
        remedy = Message("Grant write access, or capture into another folder.")
        return Problem("unwritable", "This user cannot write to the logdir.", remedy, path, "warning")
    free = shutil.disk_usage(path).free
    if free < _LEAST_FREE_BYTES:
        message = Message("Its disk is full: {free} MB are free.", free=f"{free / 1e6:.0f}")
        return Problem("full", message, "Free some space: captures take up to a few hundred MB.", path, "warning")
    return _ok("writable", Message("The logdir is writable."), path)


def _ok(code: str, message: str, where: str = "") -> Problem:
    return Problem(code, message, "", where, "info")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _framework_findings() -> Iterator[Problem]:
    versions = {name: version for name in _FRAMEWORKS if (version := _version(name))}
    if not versions:
        remedy = Message("Run tb-profile doctor with the Python of the training environment.")
        yield Problem("no_framework", "This Python has neither TensorFlow nor JAX.", remedy, "", "info")
        return
    yield _ok(
        "frameworks",
        Message("Found {packages}.", packages=", ".join(f"{name} {version}" for name, version in versions.items())),
    )
    if any(version.startswith("2.21.") for name, version in versions.items() if name.startswith("tensorflow")):
        remedy = Message("Capture with tb-profile or from the page, where these options work.")
        message = Message(
            "The Python API of TensorFlow 2.21 ignores ProfilerOptions (tracer levels, delay) without an error."
        )
        yield Problem("options_dropped", message, remedy, severity="warning")
    yield from _unmet_requirements([*versions, _OWN_PACKAGE])


def _unmet_requirements(names: Sequence[str]) -> Iterator[Problem]:
    """Findings of requirements that installed packages do not meet; the remedy meets those of all of ``names``."""
    requirements = [(name, requirement) for name in names for requirement in _requirements(name)]
    for name, requirement in requirements:
        have = _version(requirement.name)
        if have and not requirement.specifier.contains(have, prereleases=True):
            specifier = SpecifierSet()
            for _, other in requirements:
                if canonicalize_name(other.name) == canonicalize_name(requirement.name):
                    specifier &= other.specifier
            message = Message(
                "{name} needs {package} {specifier}, but {have} is installed.",
                name=name,
                package=requirement.name,
                specifier=requirement.specifier,
                have=have,
            )
            yield Problem(
                "versions",
                message,
                Message('Run pip install "{name}{specifier}".', name=requirement.name, specifier=specifier),
                severity="warning",
            )


def _requirements(name: str) -> Iterator[Requirement]:
    """What an installed package requires on this machine, without its extras."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        with suppress(InvalidRequirement):
            requirement = Requirement(line)
            if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
                yield requirement


def _gpu_findings(root: Path) -> Iterator[Problem]:
    driver = root / "proc/driver/nvidia"
    if not driver.is_dir():
        yield _ok("no_gpu", Message("This machine has no NVIDIA driver, so captures show only its host."))
        return
    version = re.search(r"Kernel Module.{0,200}?\s(\d+)\.(\d+)", _text(driver / "version"))
    yield _ok(
        "driver",
        Message("NVIDIA driver {version}.", version=".".join(version.groups()))
        if version
        else Message("NVIDIA driver of unknown version."),
    )
    cuda = int((_version("nvidia-cuda-cupti-cu12") or _version("nvidia-cuda-cupti") or "0").split(".")[0])
    oldest = _CUDA_DRIVERS.get(cuda)
    if version and oldest and (int(version[1]), int(version[2])) < oldest:
        remedy = Message(
            "Install driver {version} or newer, or packages for an older CUDA.", version=".".join(map(str, oldest))
        )
        yield Problem(
            "old_driver", Message("The driver is too old for CUDA {cuda}.", cuda=cuda), remedy, severity="error"
        )
    yield from _cupti_findings(root)
    yield from _counter_findings(root)


def _cupti_findings(root: Path) -> Iterator[Problem]:
    libraries = [*_cupti_in_loader_cache(), *_cupti_in_path(), *_cupti_in_wheels()]
    if libraries:
        yield _ok("cupti", Message("libcupti was found, so GPU kernels can be recorded."), libraries[0])
        return
    unused_libraries = sorted((root / "usr/local").glob("cuda*/extras/CUPTI/lib64/libcupti.so*"))
    if unused_libraries:
        remedy = Message(
            "Run export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH before the training program.",
            folder=unused_libraries[-1].parent,
        )
        yield Problem("cupti_not_in_path", "libcupti is installed, but the loader does not find it.", remedy)
    else:
        remedy = Message('Install CUDA\'s CUPTI, e.g. with pip install "tensorflow[and-cuda]" or "jax[cuda12]".')
        yield Problem("no_cupti", "libcupti was not found: GPU captures would hold no kernels.", remedy)


def _cupti_in_loader_cache() -> list[str]:
    ldconfig = shutil.which("ldconfig") or shutil.which("/sbin/ldconfig")
    if not ldconfig:
        return []
    listing = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    return re.findall(r"libcupti\.so.{0,200}=> (\S+)", listing)


def _cupti_in_path() -> list[str]:
    folders = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    return [str(path) for folder in folders for path in sorted(Path(folder).glob("libcupti.so*"))]


def _cupti_in_wheels() -> list[str]:
    """TensorFlow and JAX look into NVIDIA's own packages, too."""
    names = ("nvidia-cuda-cupti-cu12", "nvidia-cuda-cupti")
    files = (file for name in names if _version(name) for file in metadata.files(name) or [])
    return [str(file.locate()) for file in files if file.name.startswith("libcupti.so")]


def _counter_findings(root: Path) -> Iterator[Problem]:
    is_restricted = re.search(r"^RmProfilingAdminOnly: 1", _text(root / "proc/driver/nvidia/params"), re.MULTILINE)
    capabilities = re.search(r"^CapEff:\s*([0-9a-f]+)", _text(root / "proc/self/status"), re.MULTILINE)
    is_admin = bool(capabilities and int(capabilities[1], 16) & _CAP_SYS_ADMIN)
    if is_restricted and not is_admin:
        remedy = Message(
            "Add `options nvidia NVreg_RestrictProfilingToAdminUsers=0` to a file in /etc/modprobe.d and "
            "reboot. For a container, use --cap-add=SYS_ADMIN (or --privileged)."
        )
        message = Message("The driver allows profiling only to administrators, and this process is not one.")
        yield Problem("restricted", message, remedy)
    else:
        yield _ok("counters", Message("This process may profile the GPU."))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _tensorboard_findings() -> Iterator[Problem]:
    version = _version("tensorboard")
    if not version:
        yield Problem("no_tensorboard", "TensorBoard is not installed.", "Use tb-profile serve.", severity="warning")
        return
    yield _ok("tensorboard", Message("TensorBoard {version}.", version=version))
    own_package = (__package__ or "").split(".")[0]
    for entry in metadata.entry_points(group="tensorboard_plugins"):
        if entry.name == "profile" and not entry.value.startswith(f"{own_package}."):
            owner = entry.dist.name if entry.dist else entry.value
            remedy = Message("Compare both, or remove the other with pip uninstall {owner}.", owner=owner)
            message = Message("{owner} has a Profile tab, too; ours is named Profile (tb-profile).", owner=owner)
            yield Problem("rival", message, remedy, severity="warning")
