"""What is said to users is a message that the catalogues hold, and what they say of it keeps its form."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import draw
import drawn
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import tb_profile_plugin  # noqa: E402
from scripts import catalogues  # noqa: E402
from tb_profile_plugin import tools  # noqa: E402
from tb_profile_plugin.runtime.messages import slots  # noqa: E402
from tb_profile_plugin.runtime.problems import ProblemError  # noqa: E402

PACKAGE = ROOT / "tb_profile_plugin"
IN_ENGLISH = {
    "compat": "shapes of the existing plugin",
    "serve/routes/capture.py": "what the existing plugin answers",
    "analysis/diagnosis/catalogue.py": "templates, which are texts of the catalogues as wholes",
    "budgets/metrics.py": "what docs/check.md says of metrics",
    "export/frames": "Python's data frames, like their columns' names",
    "export/sql/child.py": "what DuckDB is asked, and its errors",
    "tools/answers/schema.py": "descriptions in JSON schemas",
    "budgets/pytest_plugin.py": "pytest speaks English",
    "cli/mcp_server.py": "assistants read English",
    "runtime/jit": "for those who build the package",
}
"""Modules whose texts stay English, and why."""
IN_ENGLISH_CALLS = {
    *("add_argument", "add_parser", "add_argument_group", "Parser", "getgroup", "addoption", "addinivalue_line"),
    *("ValueError", "TypeError", "KeyError", "OSError", "RuntimeError", "AssertionError", "PermissionError"),
    *("ArgumentTypeError", "debug", "info", "warning", "error", "exception", "regex", "compile", "exit"),
}
"""Help of the command line, errors for programmers, logs and patterns."""
DECLARING = {"Column", "number", "text", "flag", "Table", "Param", "tool"}
"""What tools declare is a text of the catalogues as it is at last, whatever it is made of."""
SENTENCE = re.compile(r"[A-Z{][^\n]* [^\n]*[.?!]")


def test_nothing_is_said_but_messages() -> None:
    texts = catalogues.texts_of_package()
    loose = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {words}"
        for path in modules()
        for node, words in said(ast.parse(path.read_text(encoding="utf-8")))
        if not any(words in text for text in texts)
    ]
    assert not loose


def test_what_is_glued_is_found() -> None:
    tree = ast.parse("""warn(f"{name} was left out."); Message("All is well."); raise ValueError("It is wrong.")""")
    assert sorted(words for _, words in said(tree)) == ["All is well.", "{name} was left out."]


def test_messages_are_put_together_by_messages() -> None:
    """An f-string of them is a plain text, which stays English."""
    glued = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr)
        for part in node.values
        if isinstance(part, ast.FormattedValue) and getattr(part.value, "attr", "") in ("message", "remedy")
    ]
    assert not glued


def test_braces_of_texts_match() -> None:
    for template in catalogues.texts_of_package():
        slots(template)


@pytest.mark.parametrize("catalogue", catalogues.CATALOGUES)
def test_translations_keep_the_form(catalogue: str) -> None:
    """Whatever is translated takes the same arguments, with braces that match."""
    wrong = {
        english: faults
        for english, text in catalogues.read(catalogue).items()
        if (faults := catalogues.faults(english, text))
    }
    assert not wrong


@pytest.mark.parametrize("catalogue", catalogues.CATALOGUES)
def test_nothing_lacks_a_translation(catalogue: str) -> None:
    texts, translations = catalogues.texts_in_use(catalogue), {*catalogues.read(catalogue)}
    assert not texts - translations, "scripts/messages missing prints them"
    assert not translations - texts, "scripts/messages tidy drops them"


AFTER_VOWELS = re.compile(
    r"(?:_ps|share|percent|count|_pair|size|bytes|device|gib|times|calls|peak|most|least|time|seconds|limit|megabytes|work|cores)$"
)
"""Arguments that end in a vowel when they are read: times, shares, sizes and numbers with their counter."""
PARTICLE = re.compile(r"\{(\w+)\}(?:을|를|이|가|은|는|과|와|으로|로)(?![가-힣])")


@pytest.mark.parametrize("catalogue", ["ko", "pages.ko"])
def test_no_particle_that_depends_on_a_name_follows_it(catalogue: str) -> None:
    wrong = {
        text
        for text in catalogues.read(catalogue).values()
        for name in PARTICLE.findall(text)
        if not AFTER_VOWELS.search(name)
    }
    assert not wrong


@pytest.mark.parametrize("catalogue", ["ja", "zh", "pages.ja", "pages.zh"])
def test_sentences_of_letters_without_case_end_in_their_own_stops(catalogue: str) -> None:
    """No comma or full stop of Latin behind a Han letter or kana; none of Chinese in Japanese, nor the reverse."""
    other = "，" if catalogue.endswith("ja") else None
    wrong = [
        text
        for text in catalogues.read(catalogue).values()
        if re.search(r"[\u3040-\u30ff\u4e00-\u9fff][,.;](?:\s|$)", text) or (other and other in text)
    ]
    assert not wrong


@pytest.mark.parametrize("capture", ["keras_fit", "torch_training", "two_workers", *drawn.PROGRAMS])
def test_texts_in_answers_are_messages(capture: str, tmp_path: Path) -> None:
    """None of our texts is among the values as a plain one, which no catalogue would translate."""
    if capture in drawn.PROGRAMS:
        session = draw.session(tmp_path, host=drawn.PROGRAMS[capture]())
    else:
        session = tb_profile_plugin.open(ROOT / "tests" / "traces" / capture)
    texts = {text for text in catalogues.texts_of_package() if " " in text}
    plain = []
    for tool in tools.all_tools().values():
        # A capture has something to show on some pages only.
        with contextlib.suppress(ProblemError):
            answer = {} if tool.streamed else session.answer(tool.name)
            plain += [(tool.name, value) for value in values(answer) if type(value) is str and value in texts]
    assert not plain


def values(answer: Any) -> Iterator[Any]:
    """All that plain data holds; what messages are made of stays English."""
    if isinstance(answer, dict):
        for name, content in answer.items():
            if name != "messages" and not (name == "message" and isinstance(content, dict)):
                yield from values(content)
    elif isinstance(answer, list):
        for content in answer:
            yield from values(content)
    else:
        yield answer


def modules() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if not str(path.relative_to(PACKAGE)).startswith(tuple(IN_ENGLISH)):
            yield path


def said(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Literals that read like sentences, beside docstrings; what is put in stands in braces."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and called(node) in IN_ENGLISH_CALLS:
            continue
        if isinstance(node, ast.Call) and called(node) in DECLARING:
            stack += [part for part in arguments(node) if not isinstance(part, ast.JoinedStr)]
            continue
        if isinstance(node, ast.Constant | ast.JoinedStr):
            words = written(node)
            if SENTENCE.fullmatch(words):
                yield node, words
            continue
        stack += ast.iter_child_nodes(node)


def arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def written(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
        for part in node.values
        if isinstance(part, ast.Constant | ast.FormattedValue)
    )


GLOSSARY = {
    "warm-up": ("워밍업", "ウォームアップ", "预热"),
    "self time": ("자체 시간", "自己時間", "自用时间"),
    "idle": ("유휴", "アイドル", "空闲"),
    "critical path": ("임계 경로", "クリティカルパス", "关键路径"),
    "bottleneck": ("병목", "ボトルネック", "瓶颈"),
    "hosts?": ("호스트", "ホスト", "主机"),
    "devices?": ("디바이스", "デバイス", "设备"),
    "threads?": ("스레드", "スレッド", "线程"),
    "kernels?": ("커널", "カーネル", "内核"),
    "steps?": ("스텝", "ステップ", "步"),
    "input pipeline": ("입력 파이프라인", "入力パイプライン", "输入流水线"),
    "stragglers?": ("스트래글러", "ストラグラー", "慢节点"),
    "workers?": ("워커", "ワーカー", "工作进程"),
    "collectives?": ("집합 통신", "集団通信", "集合通信"),
    "bandwidth": ("대역폭", "帯域幅", "带宽"),
    "occupancy": ("점유율", "占有率", "占用率"),
    "mixed precision": ("혼합 정밀도", "混合精度", "混合精度"),
    "registers?": ("레지스터", "レジスタ", "寄存器"),
    "shared memory": ("공유 메모리", "共有メモリ", "共享内存"),
    "roofline": ("루프라인", "ルーフライン", "Roofline"),
    "peak memory": ("최대 메모리", "ピークメモリ", "峰值内存"),
    "fragmentation": ("조각화", "断片化", "碎片"),
    "heap": ("힙", "ヒープ", "堆"),
    "allocations?": ("할당", "割り当て", "分配"),
    "captures?": ("캡처", "キャプチャ", "捕获"),
    "timeline": ("타임라인", "タイムライン", "时间线"),
    "events?": ("이벤트", "イベント", "事件"),
    "sessions?": ("세션", "セッション", "会话"),
    "baseline": ("기준", "基準", "基准"),
    "confidence interval": ("신뢰 구간", "信頼区間", "置信区间"),
    "standard deviation": ("표준 편차", "標準偏差", "标准差"),
    "modules?": ("모듈", "モジュール", "模块"),
    "gradients?": ("그래디언트", "勾配", "梯度"),
    "optimizer": ("옵티마이저", "オプティマイザー", "优化器"),
    "compilation": ("컴파일", "コンパイル", "编译"),
    "retracing": ("재추적", "再トレース", "重新追踪"),
    "iterators?": ("반복기", "イテレータ", "迭代器"),
    "dataset": ("데이터세트", "データセット", "数据集"),
    "throughput": ("처리량", "スループット", "吞吐量"),
    "arithmetic intensity": ("산술 강도", "演算強度", "算术强度"),
    "tensor cores?": ("Tensor Core", "Tensor コア", "Tensor Core"),
}
"""Terms, as patterns, and their words in Korean, Japanese and Chinese."""
OTHERWISE = {
    "Step by step",  # An idiom.
    "Shortest possible time: FLOPs at the device's peak, or bytes at its bandwidth, whichever is longer. "
    "Blank if unknown.",
}
"""Texts whose translations put it in other words."""


@pytest.mark.parametrize("catalogue", catalogues.CATALOGUES)
def test_terms_have_one_word(catalogue: str) -> None:
    """A term that stays English in a translation is code there."""
    language = ["ko", "ja", "zh"].index(catalogue.removeprefix("pages."))
    wrong = [
        (term, english)
        for english, text in catalogues.read(catalogue).items()
        if english not in OTHERWISE
        for term, words in GLOSSARY.items()
        if re.search(rf"(?i)(?<![\w.{{/-]){term}(?![\w.=(}},/-])", re.sub(r"\{\w+[},]", "", english))
        and not re.search(rf"(?i){words[language]}|\b{term}\b", text, re.ASCII)
    ]
    assert not wrong
