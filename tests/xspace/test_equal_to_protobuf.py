"""Whatever protobuf's own parser finds in a capture, the decoder finds too: every column, stat and name."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import upb

from tb_profile_plugin import store
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import Plane, Stats, kinds

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = [
    path
    for folder in (ROOT / "tests" / "traces", ROOT.parent / "shared" / "profiles")
    for path in sorted(folder.rglob("*.xplane.pb"))
    if "mangled" not in path.parts
]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: "-".join(path.relative_to(ROOT.parent).parts[-6:]))
def test_every_column(path: Path) -> None:
    data = path.read_bytes()
    space = xspace.decode(data)
    assert list(space.problems) == []
    expected = upb.planes(data)
    assert len(space.planes) == len(expected)
    for plane, other in zip(space.planes, expected, strict=True):
        compare(plane, other, space.origin_ns * 1000)


def compare(plane: Plane, other: upb.Plane, origin: int = 0) -> None:
    """Both hold the same, in the same order (lines that lie out of order in the file are sorted by the decoder)."""
    assert (plane.id, plane.name) == (other.id, other.name)
    equal(plane.lines.id, other.line_id)
    equal(plane.lines.display_id, other.display_id)
    equal(plane.lines.begin, other.line_begin - origin)
    assert list(plane.lines.name) == other.line_name
    order = np.lexsort((-other.duration, other.begin, other.line))
    events = plane.events
    equal(events.line, other.line[order])
    equal(plane.metadata.key[events.name], known(other.key, other.event_metadata)[order])
    equal(events.begin, other.begin[order] - origin)
    equal(events.duration, other.duration[order])
    equal(events.occurrences, other.occurrences[order])
    equal(np.diff(events.stats.first), np.diff(other.stats.first)[order])
    rows = [row for i in order for row in range(other.stats.first[i], other.stats.first[i + 1])]
    compare_stats(plane, events.stats, other, other.stats, np.array(rows, np.int64))
    compare_stats(plane, plane.stats, other, other.plane_stats)
    row_of = {int(key): row for row, key in enumerate(plane.metadata.key) if row}
    assert set(row_of) == set(other.event_metadata)
    for key, (name, display, blob) in other.event_metadata.items():
        row = row_of[key]
        assert (plane.names[row], plane.metadata.display.all[row]) == (name, display)
        begin, end = plane.metadata.blob.begin[row], plane.metadata.blob.end[row]
        assert plane.metadata.blob.buffer[begin:end].tobytes() == blob
        theirs = other.metadata_stats[key]
        stats = plane.metadata.stats
        low, high = int(stats.first[row]), int(stats.first[row + 1])
        part = Stats(
            stats.buffer,
            stats.first[row : row + 2] - low,
            *(c[low:high] for c in (stats.name, stats.kind, stats.value)),
        )
        compare_stats(plane, part, other, theirs)
    assert {key: plane.stat_metadata.text.all[row] for key, row in plane.stat_metadata.rows.items()} == (
        other.stat_metadata
    )


def compare_stats(plane: Plane, ours: Stats, other: upb.Plane, theirs: upb.Stats, rows: Any = None) -> None:
    rows = np.arange(len(theirs.key)) if rows is None else rows
    equal(plane.stat_metadata.key[ours.name], known(theirs.key, other.stat_metadata)[rows])
    equal(ours.kind, theirs.kind[rows])
    isnumber = (ours.kind != kinds.TEXT) & (ours.kind != kinds.BYTES)
    equal(ours.value[isnumber], theirs.value[rows][isnumber])
    assert {i: ours.bytes(i) for i in np.flatnonzero(~isnumber).tolist()} == {
        i: theirs.text[row] for i, row in enumerate(rows.tolist()) if row in theirs.text
    }


def known(keys: Any, metadata: dict[int, Any]) -> Any:
    return np.where(np.isin(keys, list(metadata)), keys, 0)


def equal(ours: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(ours, theirs)


def test_compressed_files_too(tmp_path: Path) -> None:
    data = CAPTURES[0].read_bytes()
    (tmp_path / "vm.xplane.pb.gz").write_bytes(gzip.compress(data))
    (file,) = store.resolve(tmp_path / "vm.xplane.pb.gz").files
    assert file.host == "vm"
    space = xspace.decode(store.read(file))
    for plane, other in zip(space.planes, upb.planes(data), strict=True):
        compare(plane, other)
