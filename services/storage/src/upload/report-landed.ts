import type { Handler } from "@svc/mesh";
import type { uploads } from "@svc/proto";
import { isToken } from "../one-time-token.ts";
import type { UploadDeps } from "./deps.ts";
import { deleteUpload } from "./quota.ts";
import { findUpload } from "./session.ts";

/** storage.upload.report-landed: only the token of the latest commit is accepted. */
export const reportLanded =
  (deps: Pick<UploadDeps, "uploads" | "staging">): Handler<typeof uploads.reportLanded> =>
  async (context, { id, token }) => {
    const entry = await findUpload(deps, id);
    const held = entry?.value.token;
    if (!held || !isToken(token, held.hash)) throw context.fault("not_found");
    await deleteUpload(deps, id);
    return null;
  };
