"""Regions of threadpools, which are recorded as a start and a stop."""

from draw import host

START, STOP = "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"


def test_a_region_lasts_until_the_next_stop_on_its_line() -> None:
    trace = host(f"""
      /host:CPU
        pool/1 | {STOP}[1,0] {START}[2,0] op[3,4] {STOP}[9,0] {STOP}[12,0] {START}[20,1] {START}[30,1] {STOP}[35,0]
        pool/2 | {STOP}[40,0] {START}[50,2]
    """).trace
    assert ((trace.end - trace.begin) // 10**6).tolist() == [0, 7, 4, 0, 0, 1, 5, 0, 0, 2]
