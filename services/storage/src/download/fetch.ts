import { auditActor, type Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import { assertTransfersEnabled, openStoppedWorld } from "../file/open-world.ts";
import { readTarget } from "../file/path.ts";
import { checkAddress, shownAddress } from "../source/address.ts";
import { commitTask } from "../upload/commit-task.ts";
import type { UploadDeps } from "../upload/deps.ts";
import { startDownload } from "./lane.ts";

/** storage.file.fetch: everything that can be checked is checked before the answer. */
export const fetchFile =
  (deps: UploadDeps): Handler<typeof files.fetch> =>
  async (context, { name: server, path: given, url, sha256, overwrite = false }) => {
    const path = readTarget(given);
    const { fetch_from: sources, fetch_bytes: mostBytes } = deps.settings.storage;
    const wanted = { to: files.fetch, writes: [path] };
    assertTransfersEnabled(deps);
    await openStoppedWorld(deps, { ...context, server, ...wanted });
    const { principal } = context;
    if (principal.kind !== "account") throw context.fault("forbidden");
    if (sources.length === 0) throw context.fault("fetch_disabled");
    const checked = checkAddress(url, sources);
    if ("problem" in checked) throw context.fault("address_refused", { message: checked.problem });
    const from = shownAddress(checked.url);
    const op = await startDownload(deps, {
      ...{ context, server, wanted, sources, user_id: principal.user_id },
      op: { op: "upload", path, from, started_by: auditActor(context).actor },
      change: {
        action: "file.fetch",
        path,
        payload: { from, overwrite, ...(sha256 !== undefined && { sha256 }) },
      },
      files: [{ url, mostBytes, sha256 }],
      jobOf: (upload, token) => commitTask(deps, upload, { overwrite, token }),
    });
    return { op };
  };
