/** Problems that the page itself finds. */

import type { Problem } from "./schema";

export function errorProblem(code: string, message: string, remedy: string, where = ""): Problem {
  return { code, message, remedy, where, severity: "error" };
}
