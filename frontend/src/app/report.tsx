/** The entry of a report: a file that holds its answers. What it shows without scripts gives way, but for printing. */

import { answerFrom } from "../api/client";
import { embedded } from "../api/embedded";
import { matching } from "../base/messages";
import { EMPTY_VIEW, format, parse } from "../base/urlcodec";
import { useLanguage } from "../state/language";

const answers = document.getElementById("answers");
answerFrom(embedded(answers?.textContent ?? ""));
document.documentElement.dataset.live = "";
// A link to one of its views says itself what that is held against, and which steps it covers.
const { base = "", lang, steps = "" } = answers?.dataset ?? {};
const chosen = { ...EMPTY_VIEW, base, options: { steps } };
if ((base || steps) && !parse(location.hash).run) history.replaceState(null, "", format(chosen));
if (lang) useLanguage(window, matching([lang]), JSON.parse(document.getElementById("messages")?.textContent ?? "{}"));
// Texts of the page are made as its modules are loaded.
void import("./mount").then(({ mount }) => mount());
