from tb_profile_plugin.analysis.ops.shares import largest


def test_the_largest_stand_alone_and_the_rest_in_one() -> None:
    found = largest([*((f"n{number}", number) for number in range(12)), ("n2", 100)])
    assert found[:2] == [("n2", 102), ("n11", 11)]
    assert (len(found), found[-1]) == (9, ("3 others", 1 + 3 + 4))
    assert sum(ps for _, ps in found) == sum(range(12)) + 100


def test_none_is_summed_alone() -> None:
    assert len(largest((f"n{number}", 5) for number in range(9))) == 9
    assert largest([("nothing", 0)]) == []
