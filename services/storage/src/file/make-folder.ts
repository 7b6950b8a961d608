import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.make-folder */
export const makeFolder =
  (deps: FileDeps): Handler<typeof files.makeFolder> =>
  async (context, { name, path: given }) => {
    const path = readTarget(given);
    const change = { action: "file.mkdir", path };
    await runOnWorld(deps, {
      ...context,
      server: name,
      to: files.makeFolder,
      writes: [path],
      task: { mode: "mkdir", path },
      change,
    });
    return { path, status: "created" as const };
  };
