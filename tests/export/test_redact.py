"""Redacted captures hold no word of their owner in any byte, and the same figures."""

import gzip
import json
import random
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import draw
import pytest
from figures import figures
from hypothesis import given, settings
from hypothesis import strategies as st

import tb_profile_plugin
from tb_profile_plugin.analysis.labels import xla_origins
from tb_profile_plugin.cli import main
from tb_profile_plugin.export import redact
from tb_profile_plugin.export.pseudonyms import Pseudonyms
from tb_profile_plugin.export.text_cleaner import TextCleaner
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.tools import all_tools

TRACES = Path(__file__).resolve().parent.parent / "traces"
REAL = TRACES.parents[2] / "shared" / "profiles"
HOSTS = ("falcon-7.quokka.example_6009", "Heron.quokka.example")

DRAWN = """
/host:CPU {process_id=7, walrus_fact=puffin, hostname=lemur}
  alpaca-thread/12 | train[0,900]{_r=1, step_num=s} Zebu/dense_1/MatMul:MatMul[100,300]{tf_op='ibex/MatMul:MatMul'}
                   | load[500,9]{path='/home/okapi/data/x', other='gs://numbat/b', at=&vole_source, address=10.1.2.3}
                   | narwhal_fn[520,3]{source=&dugong_code} Launch[110,5]{c=1} TapirMatMul:MatMul[530,4]
                   | step[540,1]{argv='--lr=0.1 --corp=kudu', cmdline=&bongo_line, environment='USER=serval'}
                   | PjitFunction(gibbon_step)[550,1]{hlo='HloModule caracal', traceback='"lynx.py"', code='agouti()'}
                   | on:10.9.8.7.[560,1]{text='ip-10-77-66-55 fe80::1ff:fe23:4567:890a done'}
                   | $/opt/fossa/run.py:3~civet[570,1] $tenrec.py:12~wait[575,1]
                   | work[580,1]{tf_op='C:\\Users\\quoll\\x', name='\\\\srv\\Users\\bilby', kernel_name='home%2Fcoati'}
                   | EagerExecute:~__inference_jerboa_12[590,1]{long_name='metadata={source_file=/scratch/potto/m.py}'}
                   | work2[600,1]{tf_op='/mnt/users/margay/x', name='USER=ocelot', shape='kinkajou[2,3]'}
                   | FALCON-7:done[610,1]{name='heron.QUOKKA.example', device='/job:dhole/task:0'}
                   | größe_łasica[620,1]{name='Jörg~Müller/x', annotation='a+dingo@example'}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=7}
  Stream #13(Compute) | gemm[120,80]{c=1, tf_op=a:MatMul, kernel_details='regs:32 grid:2,1,1 block:32,1,1 note:eland'}
                      | _ZN6gaurus6kernelIfEEvPf[300,4]{c=2} cutlass_80_saiga_kernel[310,4]
/device:CUSTOM:nilgai
  pronghorn | takin[1,1]
/host:springbok
  gerenuk | oryx[1,1]
Task Environment {profile_start_time=5, motto='addax'}
  x | y[0,0]
error: sitatunga.example: Failed to load libcupti at /usr/local/impala
warning: user topi was here
hostname: falcon-7.quokka.example
hostname: bushbuck
"""
SECRETS = """
walrus puffin lemur alpaca zebu ibex okapi numbat vole 10.1.2.3 narwhal dugong tapir kudu --lr bongo serval gibbon
caracal lynx agouti 10.9.8.7 10-77-66-55 fe80 890a fossa civet tenrec quoll bilby coati jerboa potto margay ocelot
kinkajou falcon quokka dhole łasica größe jörg müller dingo eland gaurus saiga nilgai pronghorn takin springbok
gerenuk oryx addax sitatunga impala topi bushbuck heron marten polecat stoat badger wolverine fisher otter mink
weasel mongoose meerkat genet binturong galago aardwolf
""".split()


def planted() -> Any:
    """A secret in every field that may hold text, also in those that no one knows."""
    space = draw.space(DRAWN.replace("~", " "), steps=2)
    host, gpu = space.planes[0], space.planes[1]
    host.event_metadata[1].metadata = b"marten"
    host.event_metadata[1].display_name = "polecat"
    host.event_metadata[2].stats.add(metadata_id=1, str_value="stoat")
    host.stat_metadata[1].description = "badger"
    host.stat_metadata[70].name = "wolverine"
    host.stat_metadata[71].name = "tf_op"
    host.stat_metadata[72].name = "profile_options"
    host.lines[0].events[0].stats.add(metadata_id=71, bytes_value=b"fisher")
    host.stats.add(metadata_id=72, bytes_value=field(10, b"otter") + b"\x10\x02")
    host.lines[0].display_name = "mink"
    gpu.stats.add(metadata_id=99, str_value="weasel")
    draw.program(space, 7, "jit_mongoose", meerkat="fusion/kLoop genet/Relu:Relu")
    program = space.planes[-1].event_metadata[7]
    program.stats[0].bytes_value += field(1, field(9, b"binturong"))
    unknown = field(15, b"galago")
    for message in (host.lines[0].events[1], host.lines[0], gpu):
        message.MergeFromString(unknown)
    space.MergeFromString(field(9, b"aardwolf"))
    return space


@pytest.fixture(params=["", ".gz"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    session = draw.session(tmp_path, **{host: planted() for host in HOSTS})
    run = Path(session.stored.folder)
    if request.param:
        for path in list(run.iterdir()):
            (run / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    return run


def left(content: bytes) -> list[str]:
    """Secrets that stand in the bytes, in any case; JSON escapes what is not ASCII."""
    text = content.decode("utf-8", "replace").casefold()
    text += json.dumps(text) + re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)
    return [secret for secret in SECRETS if secret.casefold() in text]


def test_the_capture_holds_the_secrets() -> None:
    data = planted().SerializeToString() + HOSTS[1].encode()
    assert len(SECRETS) > 60
    assert sorted(left(data)) == sorted(SECRETS)


@pytest.mark.parametrize("form", ["chrome", "perfetto", "xplane"])
@pytest.mark.parametrize("host", ["", *HOSTS])
def test_no_secret_is_left(folder: Path, tmp_path: Path, form: str, host: str) -> None:
    out = tmp_path / "out"
    named = host or (HOSTS[0] if form == "xplane" else "")
    arguments = ["export", str(folder), "--format", form, "--host", named, "--redact", "--out", str(out)]
    assert main.main(arguments) == 0
    content = out.read_bytes()
    assert left(content) == []
    kept = [b"dense_1/MatMul", b"train", b"cutlass_80_", b"host-", b"Stream #13(Compute)", b"/device:CUSTOM:"]
    kept = kept[:-1] if form != "xplane" else kept
    assert [word for word in kept if word not in content] == []


def test_hosts_of_a_session_agree(folder: Path, tmp_path: Path) -> None:
    """One word has one pseudonym on all hosts, so that ops of several are still one op."""
    names = []
    for host in HOSTS:
        out = tmp_path / "x.xplane.pb"
        assert (
            main.main(["export", str(folder), "--format", "xplane", "--host", host, "--redact", "--out", str(out)]) == 0
        )
        space = draw.XSpace.FromString(out.read_bytes())
        names.append({entry.name for plane in space.planes for entry in plane.event_metadata.values()})
    assert names[0] == names[1]


def test_words_that_the_first_host_lacks_have_one_name(tmp_path: Path) -> None:
    """Whichever hosts are given away, and whatever their own words are."""
    texts = {
        "a": "ibex/MatMul:MatMul[0,9]",
        "b": "okapi/Relu:Relu[0,9]",
        "c": "kudu[0,1] f(okapi)[2,5] okapi/Relu:Relu[9,9]",
    }
    drawn = {host: draw.space(f"/host:CPU\n  t | train[0,99] {text}") for host, text in texts.items()}
    folder = Path(draw.session(tmp_path, **drawn).stored.folder)
    contents = [exported(folder, tmp_path / "out", "--host", host) for host in ("", "b", "c")]
    names = {name for content in contents for name in re.findall(rb"(\w+)/Relu", content)}
    assert len(names) == 1
    assert all(len(re.findall(rb"\w+/MatMul", content)) == (not i) for i, content in enumerate(contents))


KINDS = {
    "$lynx.py:12 wait": "$file1~.py:12 wait",
    "PjitFunction(gibbon_step)": "PjitFunction(function1~_step)",
    "ibex/MatMul:MatMul": "module1~/MatMul:MatMul",
    "model/ZebuHead_2": "model/Module1~Head_2",
    "caracal::add": "op1~::add",
    "gnu12": "name1~12",
    "/home/okapi/data": "path1~",
    "10.1.2.3": "address1~",
}


@pytest.mark.parametrize("text", KINDS)
def test_pseudonyms_tell_what_they_stand_for(text: str) -> None:
    cleaned = TextCleaner(Pseudonyms(b"key"), {}).clean(text)
    mark = Pseudonyms(b"key").of("", "")[-3:]
    assert cleaned == KINDS[text].replace("~", mark)
    assert TextCleaner(Pseudonyms(b"another"), {}).clean(text) != cleaned


def exported(folder: Path, out: Path, *more: str) -> bytes:
    """A redacted trace."""
    assert main.main(["export", str(folder), "--redact", "--out", str(out), *more]) == 0
    return out.read_bytes()


def test_a_key_brings_the_words_back(folder: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    content = exported(folder, tmp_path / "out", "--key", str(key))
    assert left(content) == []
    assert key.stat().st_mode & 0o777 == 0o600
    told = json.loads(key.read_text())
    assert told[f"host-1 ({folder.name})"] == min(HOSTS)
    text = content.decode()
    for name in sorted(told, key=len, reverse=True):
        text = text.replace(name, told[name])
    assert {"gibbon_step", "ibex", "civet", "gaurus"} <= set(re.findall(r"[a-z]+_step|[a-z]+", text))


def test_with_one_key_sessions_share_their_names(tmp_path: Path) -> None:
    folders = []
    for name, text in (("one", "ibex/MatMul:MatMul[0,9]"), ("two", "okapi/Relu:Relu[0,9] ibex/MatMul:MatMul[10,9]")):
        session = draw.session(tmp_path / name, host=draw.space(f"/host:CPU\n  t | train[0,99] {text}"))
        folders.append(Path(session.stored.folder))
    key = ["--key", str(tmp_path / "key.json")]

    def ibex(*more: str) -> list[str]:
        contents = [exported(folder, tmp_path / "out", *more).decode() for folder in folders]
        return [re.findall(r"(\w+)/MatMul", content)[0] for content in contents]

    one, two = ibex(*key)
    assert one == two
    alone, other = ibex()
    assert alone != other


@pytest.mark.parametrize("content", ["[]", '{"a": "b"}', "{", '{"name1": "x"}'])
def test_only_keys_are_keys(folder: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key.json"
    key.write_text(content)
    arguments = ["export", str(folder), "--out", str(tmp_path / "out"), "--key", str(key)]
    assert main.main([*arguments, "--redact"]) == 2
    assert "not a key of pseudonyms" in capsys.readouterr().err
    assert key.read_text() == content
    assert main.main(arguments) == 2


WORD = st.text(st.characters(codec="utf-8", categories=["L"]), min_size=5, max_size=12)


@settings(max_examples=60)
@given(st.lists(WORD, min_size=2, max_size=5, unique=True), st.sampled_from("/ . : _ - = ( \\ , @ %2F ::".split()))
def test_words_that_nobody_knows_never_stay(words: list[str], between: str) -> None:
    foreign = [w for w in words if w.casefold() not in TextCleaner(Pseudonyms(b"key"), {}).clean(w).casefold()]
    text = between.join(["MatMul", *words, "dense_1"])
    cleaned = TextCleaner(Pseudonyms(b"key"), {}).clean(text)
    assert [word for word in foreign if word.casefold() in cleaned.casefold()] == []
    assert cleaned == TextCleaner(Pseudonyms(b"key"), {}).clean(text)
    assert cleaned != TextCleaner(Pseudonyms(b"another"), {}).clean(text) or not foreign


KEPT = r"""
model/dense_1/BiasAdd:BiasAdd
ResourceApplyAdam
Iterator::Root::Prefetch::ParallelMapV2::Shuffle
tf_data_private_threadpool/-123
tf_numa_-1_Eigen/5
/device:GPU:0
/host:CPU
Stream #1(MemcpyD2H)
fusion.123
all-reduce.4
jit(train_step)/jvp(main)/dot_general[dim=1]
%copy = f32[8,128]{1,0:T(8,128)}
cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_nn_align8
_Z15fft2d_r2c_16x16IfEvP6float2PKT_iiiiiiii
void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<float>, int>
nvjet_tst_192x192_64x3_1x2_h_bz_coopB_TNN
Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_SE_1LDSB0
ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)
regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1 block:32,1,1 occ_pct:100
2.21.0
"""


@pytest.mark.parametrize("text", [*KEPT.strip().splitlines(), "\0PU_0_bfc"])
def test_names_of_frameworks_stay(text: str) -> None:
    assert TextCleaner(Pseudonyms(b"key"), {}).clean(text) == text


def test_texts_that_differ_still_differ() -> None:
    dice = random.Random(7)
    texts = {"".join(dice.choices("aAbB1_/.:ü -", k=7)) for _ in range(20_000)}
    pseudonyms = TextCleaner(Pseudonyms(b"key"), {})
    assert len({pseudonyms.clean(text) for text in texts}) == len(texts)


REAL_ONES = sorted(path for path in REAL.rglob("*.xplane.pb") if path.parent.name != "mangled")


UNTOLD = {"op_profile", "hlo_stats", "roofline_model", "memory_viewer", "graph_viewer"}
"""They rest on the shapes of XLA programs, which do not stay."""


COSTS = {"measured_flop_rate", "model_flop_rate", "measured_memory_bw", "operational_intensity", "flopRate"}
"""Columns of old shapes that rest on them, too."""
RATES = {"tflop_per_s", "mfu_share", "flops_unknown_share"}
"""And facts."""


def timed(answer: Any) -> Any:
    """Without figures of costs."""
    if isinstance(answer, list):
        return [timed(each) for each in answer]
    if isinstance(answer, dict) and "facts" in answer:
        return answer | {"facts": {name: fact for name, fact in answer["facts"].items() if name not in RATES}}
    if not (isinstance(answer, dict) and answer.get("cols")):
        return answer
    kept = [i for i, column in enumerate(answer["cols"]) if column["id"] not in COSTS]
    return answer | {"rows": [{"c": [row["c"][i] for i in kept]} for row in answer["rows"]]}


def test_costs_are_not_known_without_shapes(tmp_path: Path) -> None:
    """And no op is said to cost nothing."""
    path = next(path for path in sorted(TRACES.rglob("*.xplane.pb")) if "jax_steps" in path.parts)
    shared = tmp_path / "host-1.xplane.pb"
    assert main.main(["export", str(path), "--format", "xplane", "--redact", "--out", str(shared)]) == 0
    one, other = (tb_profile_plugin.open(each).answer("hlo_stats")["tables"]["ops"] for each in (path, shared))
    values = [{column["id"]: column["values"] for column in each["columns"]} for each in (one, other)]
    assert sorted(values[0]["self_us"]) == sorted(values[1]["self_us"]) and one["rows"] > 2
    assert any(values[0]["flops"]) and not any(flops is not None for flops in values[1]["flops"])
    assert set(values[1]["cost"]) == {"unknown"}


@pytest.mark.parametrize("path", [*sorted(TRACES.rglob("*.xplane.pb")), *REAL_ONES], ids=lambda path: path.parts[-5])
def test_figures_stay(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Sources are among what is taken away: then work is named by its instructions, here in both.
    monkeypatch.setattr(xla_origins, "_MOST_BYTES", 0)
    shared = tmp_path / "host-1.xplane.pb"
    assert main.main(["export", str(path), "--format", "xplane", "--redact", "--out", str(shared)]) == 0
    sessions = [tb_profile_plugin.open(each) for each in (path, shared)]
    for name, tool in all_tools().items():
        if tool.streamed:
            continue
        found: list[Counter[Any]] = [Counter(), Counter()]
        for session, numbers in zip(sessions, found, strict=True):
            # What has nothing to show says so, of both.
            with suppress(ProblemError):
                figures(timed(session.xprof(name)), numbers)
        if name in UNTOLD:
            # What has a cost or a size loses it with the shapes; times and counts are in the other tools' figures.
            continue
        assert found[0] == found[1], name


def test_mangled_names_are_still_read() -> None:
    """A value before the end of a template is no word's length."""
    name = "_ZN5Eigen6gaurusINS0_13scalar_cmp_opINS_14ComparisonNameELNS_14ComparisonNameE5EEEKNS_6kernelEEEvT_"
    cleaned = TextCleaner(Pseudonyms(b"key"), {}).clean(name)
    assert "gaurus" not in cleaned and cleaned.startswith("_ZN5Eigen12function1")
    assert cleaned.endswith(name[name.index("INS0_13scalar") :])


@pytest.mark.parametrize("piece", ["/", ":", "1.", "1-", "a:", "_ZN", "9999a", "::1 ", "A", "a/", "/a ", "0f", "é"])
def test_long_texts_are_walked_once(piece: str) -> None:
    """This would take hours if an expression looked ahead at every place."""
    text = piece * 100_000
    assert 0 < len(TextCleaner(Pseudonyms(b"key"), {"host-a": "host-1"}).clean(text)) <= 16 * len(text)


def test_a_hostile_number_of_levels_is_no_trouble() -> None:
    blob = b""
    for _ in range(3000):
        blob = field(1, blob + field(9, b"marten"))
    space = draw.space("/host:CPU\n  t | train[0,9]")
    space.planes[0].stat_metadata[1].name = "Hlo Proto"
    space.planes[0].stats.add(metadata_id=1, bytes_value=blob)
    content = redact.redacted(space.SerializeToString() + field(9, blob), "h", {"h": "host-1"}, Pseudonyms(b"key"))
    assert b"marten" not in content
    assert b"train" in content
