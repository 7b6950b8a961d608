import type { Handler } from "@svc/mesh";
import { Fault, files, isFault } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.remove */
export const remove =
  (deps: FileDeps): Handler<typeof files.remove> =>
  async (context, { name, path: given, only }) => {
    const path = readTarget(given);
    const condition = only !== undefined && { only };
    const change = { action: "file.delete", path, ...(condition && { payload: condition }) };
    await runOnWorld(deps, {
      ...context,
      server: name,
      to: files.remove,
      writes: [path],
      task: { mode: "delete", path, ...condition },
      change,
    }).catch((error: unknown) => {
      // Jobs have no word of their own for it, since theirs are read by builds of two releases.
      if (isFault(error) && error.fault === "file_exists")
        throw new Fault("folder_not_empty", { message: error.message });
      throw error;
    });
    return { path, status: "deleted" as const };
  };
