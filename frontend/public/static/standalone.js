import { render } from "../index.js";

render();
