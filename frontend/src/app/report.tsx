/** The entry of a report: a file that holds its answers. What it shows without scripts gives way, but for printing. */

import { answerFrom } from "../api/client";
import { embedded } from "../api/embedded";
import { mount } from "./mount";

answerFrom(embedded(document.getElementById("answers")?.textContent ?? ""));
document.documentElement.dataset.live = "";
mount();
