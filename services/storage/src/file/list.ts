import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { answerLarge } from "./large-answer.ts";
import { readPath } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.list */
export const list =
  (deps: FileDeps): Handler<typeof files.list> =>
  async (context, { name, path: given, from }) => {
    const path = readPath(given);
    const task = { mode: "list", path, ...(from !== undefined && { from }) } as const;
    const done = await runOnWorld(deps, { ...context, server: name, to: files.list, reads: [path], task });
    return answerLarge(deps, context, {
      path,
      entries: done.listing ?? [],
      truncated: done.truncated ?? false,
      free_bytes: done.free_bytes ?? null,
    });
  };
