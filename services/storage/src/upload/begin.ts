import type { Handler } from "@svc/mesh";
import { uploads } from "@svc/proto";
import { assertTransfersEnabled, openStoppedWorld } from "../file/open-world.ts";
import { readTarget } from "../file/path.ts";
import type { UploadDeps } from "./deps.ts";
import { addSession, assertSizeAllowed } from "./quota.ts";
import { newUploadId, type StoredUpload, toSession } from "./session.ts";

/** storage.upload.begin */
export const begin =
  (deps: UploadDeps): Handler<typeof uploads.begin> =>
  async (context, { name: server, path: given, size }) => {
    const { principal } = context;
    const path = readTarget(given);
    assertTransfersEnabled(deps);
    await openStoppedWorld(deps, { principal, server, to: uploads.begin, writes: [path] });
    if (principal.kind !== "account") throw context.fault("forbidden");
    const { user_id } = principal;
    const upload: StoredUpload = {
      id: newUploadId(),
      kind: "session",
      server,
      user_id,
      path,
      size,
      parts: [],
    };
    await assertSizeAllowed(deps, upload);
    await addSession(deps, upload);
    return toSession(upload);
  };
