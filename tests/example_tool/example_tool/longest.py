"""The longest events of a capture."""

from tb_profile_plugin.model.per_host import per_host
from tb_profile_plugin.tools.answers.answer import Answer, Column, Headline, Table
from tb_profile_plugin.tools.answers.tool import tool

_EVENTS = Table(
    "events",
    "Longest events",
    (Column("name", "Event", "string"), Column("ms", "Time", unit="ms", doc="From its begin to its end.")),
)


@per_host(keep=True)
def longest_of(host):
    """Name and duration, ps, of a host's longest event of each plane."""
    planes = [plane for plane in host.space.planes if len(plane.events)]
    places = [int(plane.events.duration.argmax()) for plane in planes]
    return [
        (plane.names[plane.events.name[at]], int(plane.events.duration[at]))
        for plane, at in zip(planes, places, strict=True)
    ]


@tool("Longest", order=200, tables=(_EVENTS,), needs=(longest_of,))
def longest_event(session, hosts):
    """Which event took longest?"""
    found = sorted((each for host in hosts for each in longest_of(host)), key=lambda each: -each[1])
    names, times = [name for name, _ in found], [ps / 1e9 for _, ps in found]
    headline = Headline(f"{names[0]} took longest.", "info") if names else None
    return Answer(tables={"events": {"name": names, "ms": times}}, headline=headline)
