import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.rename */
export const rename =
  (deps: FileDeps): Handler<typeof files.rename> =>
  async (context, { name, path: from, to: wanted }) => {
    const path = readTarget(from);
    const to = readTarget(wanted);
    const change = { action: "file.rename", path, payload: { to } };
    await runOnWorld(deps, {
      ...context,
      server: name,
      to: files.rename,
      writes: [path, to],
      moves: { from: path, to },
      task: { mode: "rename", path, to },
      change,
    });
    return { path, to, status: "renamed" as const };
  };
