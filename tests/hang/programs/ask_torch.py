"""What torchfrtrace finds first in each group of dumps in folders, as JSON; called by an interpreter with PyTorch."""

import argparse
import json
import sys
from typing import Any

from torch.distributed.flight_recorder.components.builder import build_db
from torch.distributed.flight_recorder.components.loader import read_dir


def with_members(details: dict[str, Any]) -> dict[str, Any]:
    """Gloo's dumps do not say who belongs to a group, without which torchfrtrace ends: all that recorded something."""
    members: dict[str, set[int]] = {}
    for each in details.values():
        for entry in each["entries"]:
            members.setdefault(entry["process_group"][0], set()).add(each["rank"])
    for each in details.values():
        if not any(group["ranks"] != "[]" and name for name, group in each["pg_config"].items()):
            described = {entry["process_group"][0]: entry["process_group"][1] for entry in each["entries"]}
            each["pg_config"] = {
                name: {"name": name, "desc": text, "ranks": str(sorted(members[name]))}
                for name, text in described.items()
            }
    return details


def first_findings(folder: str) -> dict[str, Any]:
    arguments = argparse.Namespace(
        trace_dir=folder,
        prefix=None,
        verbose=False,
        just_print_entries=False,
        allow_incomplete_ranks=True,
        mismatch_cap=10,
    )
    details, version = read_dir(arguments)
    found: dict[str, Any] = {}
    for each in build_db(with_members(details), arguments, version).collectives:
        if each.missing_ranks or each.mismatch_collectives:
            mismatches = each.mismatch_collectives or {}
            found.setdefault(
                each.pg_desc.partition(":")[2] or each.group_id,
                {
                    "sequence": each.collective_seq_id,
                    "missing": sorted(each.missing_ranks or ()),
                    "mismatches": {
                        str(rank): other.type_of_mismatch.state.name for rank, other in sorted(mismatches.items())
                    },
                },
            )
    return found


if __name__ == "__main__":
    print("FOUND", json.dumps([first_findings(folder) for folder in sys.argv[1:]]))
