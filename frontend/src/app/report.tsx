/** The entry of a report: a file that holds its answers. What it shows without scripts gives way, but for printing. */

import { setTransport } from "../api/client";
import { embeddedTransport } from "../api/embedded";
import { matchLanguage } from "../base/messages";
import { EMPTY_VIEW, parseView, standaloneHash } from "../base/urlcodec";
import { applyLanguage } from "../state/language";

const answers = document.getElementById("answers");
setTransport(embeddedTransport(answers?.textContent ?? ""));
document.documentElement.dataset.live = "";
// A link to one of its views says itself what that is held against, and which steps it covers.
const { base = "", lang, steps = "" } = answers?.dataset ?? {};
const chosen = { ...EMPTY_VIEW, base, options: { steps } };
if ((base || steps) && !parseView(location.hash).run) history.replaceState(null, "", standaloneHash(chosen));
if (lang)
  applyLanguage(window, matchLanguage([lang]), JSON.parse(document.getElementById("messages")?.textContent ?? "{}"));
// Texts of the page are made as its modules are loaded.
void import("./mount").then(({ mount }) => mount());
