/** The entry of a report: a file that holds its answers. What it shows without scripts gives way, but for printing. */

import { answerFrom } from "../api/client";
import { embedded } from "../api/embedded";
import { EMPTY_VIEW, format, parse } from "../base/urlcodec";
import { mount } from "./mount";

const answers = document.getElementById("answers");
answerFrom(embedded(answers?.textContent ?? ""));
document.documentElement.dataset.live = "";
// A link to one of its views says itself what that is held against.
const { base } = answers?.dataset ?? {};
if (base && !parse(location.hash).run) history.replaceState(null, "", format({ ...EMPTY_VIEW, base }));
mount();
