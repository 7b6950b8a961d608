import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { answerLarge } from "./large-answer.ts";
import { readPath } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.search */
export const search =
  (deps: FileDeps): Handler<typeof files.search> =>
  async (context, { name, path: given, text, in: where, match_case }) => {
    const path = readPath(given);
    // All that is below the folder is within the same limit of a member as the folder itself.
    const task = { mode: "search", path, text, in: where, match_case: match_case === "true" } as const;
    const done = await runOnWorld(deps, { ...context, server: name, to: files.search, reads: [path], task });
    if (!done.found) throw new Error("the Job of a search answered without a result");
    return answerLarge(deps, context, { path, ...done.found });
  };
