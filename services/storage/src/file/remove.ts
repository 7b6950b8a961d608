import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.remove */
export const remove =
  (deps: FileDeps): Handler<typeof files.remove> =>
  async (context, { name, path: given }) => {
    const path = readTarget(given);
    const change = { action: "file.delete", path };
    await runOnWorld(deps, {
      ...context,
      server: name,
      to: files.remove,
      writes: [path],
      task: { mode: "delete", path },
      change,
    });
    return { path, status: "deleted" as const };
  };
