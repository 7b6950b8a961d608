import type { Handler } from "@svc/mesh";
import type { uploads } from "@svc/proto";
import { isToken } from "../one-time-token.ts";
import type { UploadDeps } from "./deps.ts";
import { findUpload, ttlOf } from "./session.ts";

/** storage.upload.open-staged: unknown, wrong and spent tokens get the same answer. */
export const openStaged =
  (
    deps: Pick<UploadDeps, "settings" | "byteTransfers" | "uploads" | "staging">,
  ): Handler<typeof uploads.openStaged> =>
  async (context, { id, token }) => {
    const entry = await findUpload(deps, id);
    const held = entry?.value.token;
    if (!entry || !held || held.is_used || !isToken(token, held.hash)) throw context.fault("not_found");
    const ttlMs = ttlOf(deps, entry.value);
    const spent = { ...entry.value, token: { ...held, is_used: true } };
    const written = await deps.uploads.update(id, spent, entry.revision, { ttlMs });
    if (written === undefined) throw context.fault("not_found");
    const { size, parts } = entry.value;
    context.reply.byteTransfer = deps.byteTransfers.download({
      headers: { "Content-Type": "application/octet-stream", "Content-Length": String(size) },
      source: (signal) => deps.staging.read(id, parts, signal),
    });
    return null;
  };
