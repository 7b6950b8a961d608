import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { folderOf, nameOf, readNames, readNewZip } from "./path.ts";
import { runOnWorld } from "./run-on-world.ts";

/** storage.file.archive */
export const archive =
  (deps: FileDeps): Handler<typeof files.archive> =>
  async (context, { name: server, path: given, names: chosen }) => {
    const path = readNewZip(given);
    const paths = readNames(folderOf(path), chosen);
    const names = paths.map(nameOf);
    const done = await runOnWorld(deps, {
      ...context,
      ...{ server, to: files.archive, reads: paths, writes: [path] },
      task: { mode: "archive", path, names },
      change: { action: "file.archive", path, payload: { names } },
    });
    const { entries = 0, size_bytes: size = 0, left_out_count = 0, archive_left_out: left_out = [] } = done;
    return { path, status: "archived" as const, entries, size, left_out_count, left_out };
  };
