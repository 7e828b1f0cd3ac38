"""What collectives move, by what traces and XLA's instructions state, and what each link carries of it."""

import pytest

from tb_profile_plugin.model.names.collective_args import CollectiveArgs, bus_factor, of_instruction
from tb_profile_plugin.model.names.hlo_text import replica_groups


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("all-reduce", 2 * 7 / 8),
        ("all-gather", 7 / 8),
        ("reduce-scatter", 7 / 8),
        ("all-to-all", 7 / 8),
        ("broadcast", 1),
        ("reduce", 1),
        ("permute", 1),
    ],
)
def test_bus_bandwidth_is_reckoned_as_nccl_tests_do(kind: str, share: float) -> None:
    assert bus_factor(kind, 8) == pytest.approx(share)


def test_no_link_carries_what_a_group_of_unknown_size_shares() -> None:
    assert bus_factor("all-reduce", None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%all-reduce = f32[5,8]{1,0} all-reduce(f32[5,8]{1,0} %p), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0)",
            CollectiveArgs("", 2, "f32", 160),
        ),
        (
            "%g = bf16[32]{0} all-gather(bf16[8]{0} %p), replica_groups={{0,1,2,3},{4,5,6,7}}",
            CollectiveArgs("", 4, "bf16", 64),
        ),
        ("%s = f32[8]{0} reduce-scatter(f32[32]{0} %p), replica_groups={{0,1,2,3}}", CollectiveArgs("", 4, "f32", 128)),
        ("%r = f32[8]{0} all-reduce(f32[8]{0} %p), replica_groups={}", CollectiveArgs("", None, "f32", 32)),
        ("%s = f32[8]{0} reduce-scatter(f32[32]{0} %p), replica_groups={}", CollectiveArgs("", None, "f32", None)),
        ("all-reduce.3", CollectiveArgs()),
    ],
)
def test_instructions_state_members_types_and_sizes(text: str, message: CollectiveArgs) -> None:
    assert of_instruction(text) == message


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        ("[2,4]<=[8]", ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("[4,2]<=[2,4]T(1,0)", ((0, 4), (1, 5), (2, 6), (3, 7))),
        *(
            (text, ())
            for text in ("", "{}", "{{}}", "default_pg[0, 1]", "[3,2]<=[8]", "[2,2]<=[2,2]T(1,1)", "[0,1]<=[0]")
        ),
        ("[99999999999,99999999999]<=[9999999999800000000001]", ()),
        (f"[1,1]<=[{','.join('1' * 99)}]", ()),
    ],
)
def test_replica_groups_tell_which_devices_communicate(text: str, groups: tuple[tuple[int, ...], ...]) -> None:
    assert replica_groups(text) == groups
