"""The plugin that TensorBoard loads. TensorBoard does not start when this file fails, so it does next to nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from .serve import App

NAME = "profile"
OTHER_NAME = "tb_profile"
"""Our name where another distribution claims `NAME`: TensorBoard refuses to start with two plugins of one name."""

logger = logging.getLogger(__name__)


class Loader(base_plugin.TBLoader):
    """Makes the plugin for TensorBoard's logdir."""

    def load(self, context: base_plugin.TBContext) -> Plugin:
        """The plugin, under a name that no other distribution claims."""
        from .serve import App
        from .store import Logdir

        other = _other_profile_plugin()
        if other:
            logger.warning("%s has a plugin named %r, so ours is named %r.", other, NAME, OTHER_NAME)
        name = OTHER_NAME if other else NAME
        flags = context.flags
        spec = context.logdir or getattr(flags, "logdir", "") or getattr(flags, "logdir_spec", "") or ""
        return Plugin(name, App(Logdir(spec), f"/data/plugin/{name}"))


class Plugin(base_plugin.TBPlugin):
    """The Profile tab."""

    def __init__(self, name: str, app: App):
        self.plugin_name = name
        self._app = app
        # So that the list of sessions is there when the first page asks.
        threading.Thread(target=app.find_sessions, name="find sessions", daemon=True).start()

    def get_plugin_apps(self) -> Mapping[str, Callable[..., Any]]:
        """Every route, answered by the one application."""
        return {"/*": self._app}

    def is_active(self) -> bool:
        """Always true: without captures the tab says how to make one, and can capture itself."""
        return True

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The module whose ``render`` draws the page, and the tab's name."""
        title = "Profile" if self.plugin_name == NAME else "Profile (tb-profile)"
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=title)


def _hide_install_notice() -> None:
    """Keep TensorBoard from loading its notice that no profile plugin is installed.

    The notice looks for a module of the existing plugin's name; a module of that name here would get in its way.
    """
    with suppress(Exception):
        from tensorboard.plugins.profile_redirect import profile_redirect_plugin as notice

        # This module is imported before any plugin is loaded.
        vars(notice)["ProfileRedirectPluginLoader"].load = lambda loader, context: None


_hide_install_notice()


def _other_profile_plugin() -> str:
    """The installed distribution besides ours that registers a plugin named `NAME`; empty for none."""
    for entry in entry_points(group="tensorboard_plugins"):
        owner = entry.dist.name if entry.dist else ""
        if entry.name == NAME and not entry.value.startswith(f"{__package__}."):
            return owner or entry.value
    return ""
