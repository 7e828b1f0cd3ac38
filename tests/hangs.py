"""Dumps of PyTorch's flight recorder as ranks of NCCL write them, drawn with or without a planted fault."""

import json
import pickle
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

WORLD = "default_pg"
NS = 1_795_000_000_000_000_000


class Job:
    """Ranks that call collectives; what each records goes into a file of its own."""

    def __init__(self, ranks: int, groups: Mapping[str, Sequence[int]] | None = None, library: str = "nccl"):
        self.groups = {WORLD: tuple(range(ranks)), **{name: tuple(entry) for name, entry in (groups or {}).items()}}
        self.names = {description: str(number) for number, description in enumerate(self.groups)}
        self.entries: dict[int, list[dict[str, Any]]] = {rank: [] for rank in range(ranks)}
        self.library = library
        self._collectives: Counter[tuple[int, str]] = Counter()
        self._p2p: Counter[tuple[int, str]] = Counter()

    def run(self, steps: int, group: str = WORLD) -> "Job":
        """So many steps of an all_gather and an all_reduce that all complete."""
        for _ in range(steps):
            self.call("_all_gather_base", group, output=(4 * len(self.groups[group]), 4))
            self.call("all_reduce", group)
        return self

    def call(
        self,
        kind: str,
        group: str = WORLD,
        state: str = "completed",
        ranks: Collection[int] | None = None,
        shape: Sequence[int] = (4, 4),
        output: Sequence[int] | None = None,
        dtype: str = "Float",
    ) -> "Job":
        """A collective of these ranks of a group, by default of all; ``output`` is of another shape than ``shape``."""
        for rank in self.groups[group] if ranks is None else ranks:
            self._collectives[rank, group] += 1
            self._record(rank, group, kind, state, shape, output or shape, dtype)
        return self

    def send(self, source: int, target: int, group: str = WORLD, state: str = "completed", **more: Any) -> "Job":
        """A send, by ranks within the group."""
        return self._pair(self.groups[group][source], f"send {source}->{target}", group, state, **more)

    def receive(self, target: int, source: int, group: str = WORLD, state: str = "completed", **more: Any) -> "Job":
        """A receive, by ranks within the group."""
        return self._pair(self.groups[group][target], f"recv {target}<-{source}", group, state, **more)

    def batch(self, rank: int, parts: Sequence[str], group: str = WORLD, state: str = "completed") -> "Job":
        """Sends and receives that run as one, as `batch_isend_irecv` starts them: only their end has a state."""
        self._p2p[rank, group] += 1
        for part in parts:
            self._record(rank, group, part, "scheduled", (4, 4), (4, 4), "Float", True)
        self._record(rank, group, "coalesced", state, (), (), "Float", True)
        return self

    def _pair(self, rank: int, name: str, group: str, state: str, shape: Sequence[int] = (4, 4)) -> "Job":
        self._p2p[rank, group] += 1
        self._record(rank, group, name, state, shape, shape, "Float", True)
        return self

    def _record(
        self,
        rank: int,
        group: str,
        name: str,
        state: str,
        shape: Sequence[int],
        output: Sequence[int],
        dtype: str,
        is_p2p: bool = False,
    ) -> None:
        entries, began = self.entries[rank], state != "scheduled"
        entries.append(
            {
                "frames": [
                    {"name": name.split()[0], "filename": "torch/distributed/distributed_c10d.py", "line": 3245},
                    {"name": "step", "filename": "train.py", "line": 10 + len(entries)},
                ],
                "record_id": len(entries),
                "pg_id": list(self.groups).index(group),
                "process_group": (self.names[group], group),
                "collective_seq_id": self._collectives[rank, group],
                "p2p_seq_id": self._p2p[rank, group],
                "op_id": self._collectives[rank, group] + self._p2p[rank, group],
                "profiling_name": f"{self.library}:{name}",
                "time_created_ns": NS + len(entries) * 1000,
                "input_sizes": [list(shape)],
                "input_dtypes": [dtype],
                "output_sizes": [list(output)],
                "output_dtypes": [dtype],
                "state": state,
                "time_discovered_started_ns": NS + len(entries) * 1000 if began else None,
                "time_discovered_completed_ns": NS + len(entries) * 1000 if state == "completed" else None,
                "retired": state == "completed",
                "timeout_ms": 600_000,
                "is_p2p": is_p2p,
            }
        )

    def dump(self, rank: int, last: int = 2000, only_active: bool = False) -> dict[str, Any]:
        """What a rank's recorder holds, which keeps so many entries; or only those that are not done."""
        entries = [entry for entry in self.entries[rank][-last:] if not only_active or entry["state"] != "completed"]
        status = {"0": {"last_enqueued_collective": self._collectives[rank, WORLD]}}
        config = {
            self.names[group]: {"name": self.names[group], "desc": group, "ranks": str(list(ranks))}
            for group, ranks in self.groups.items()
            if rank in ranks
        }
        return {"version": "2.10", "pg_config": config, "pg_status": status, "entries": entries}

    def write(
        self,
        folder: Path,
        without: Collection[int] = (),
        name: str = "nccl_trace_rank_{}",
        last: int = 2000,
        only_active: bool = False,
    ) -> Path:
        """Files of all ranks but some; as JSON, which has no stacks, if the name says so."""
        folder.mkdir(parents=True, exist_ok=True)
        for rank in self.entries.keys() - set(without):
            content = self.dump(rank, last, only_active)
            path = folder / name.format(rank)
            if name.endswith(".json"):
                entries = [
                    {key: value for key, value in entry.items() if key != "frames"} for entry in content["entries"]
                ]
                path.write_text(json.dumps(content | {"entries": entries}), encoding="utf-8")
            else:
                path.write_bytes(pickle.dumps(content, 2))
        return folder
