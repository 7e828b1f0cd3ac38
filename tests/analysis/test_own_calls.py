"""Calls of TensorFlow that run ops on the host itself: it waits for them whatever the program does."""

from typing import Any

import pytest
from checkout import ROOT

import tb_profile_plugin
from tb_profile_plugin.analysis.activity.known_waits import waits_for_own_ops

TRACES = ROOT / "tests/traces"


def sync(name: str) -> dict[str, Any]:
    """The cause of host synchronization."""
    causes = tb_profile_plugin.open(TRACES / name).why().data["causes"]
    return next(cause for cause in causes if cause["id"] == "sync")


def host_of(name: str) -> Any:
    return tb_profile_plugin.open(TRACES / name).select("")[0]


@pytest.mark.parametrize("name", ["custom_loop", "keras_fit", "keras_lstm_marked", "prefetch_take", "starved_input"])
def test_waits_for_its_own_ops_save_no_more_than_they_take(name: str) -> None:
    assert waits_for_own_ops(host_of(name))
    cause = sync(name)
    assert 0 < cause["gain_ps"] <= 1.01 * cause["per_step_ps"]
    assert "per call" in cause["remedy"]["text"] and ".numpy()" not in cause["remedy"]["text"]


@pytest.mark.parametrize("name", ["keras_fit", "prefetch_take"])
def test_what_the_host_does_saves_no_more_than_it_takes_where_it_computes_too(name: str) -> None:
    causes = tb_profile_plugin.open(TRACES / name).why().data["causes"]
    gains = {cause["id"]: (cause["gain_ps"], cause["per_step_ps"]) for cause in causes if cause["gain_ps"]}
    assert "unrecorded" in gains
    assert all(gain_ps <= ps for gain_ps, ps in gains.values())


def test_waits_for_what_was_dispatched_may_save_more() -> None:
    assert not waits_for_own_ops(host_of("jax_steps"))
    cause = sync("jax_steps")
    assert cause["gain_ps"] > 1.5 * cause["per_step_ps"]
    assert "block_until_ready" in cause["remedy"]["text"]
