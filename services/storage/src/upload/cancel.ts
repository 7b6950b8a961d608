import type { Handler } from "@svc/mesh";
import { uploads } from "@svc/proto";
import type { UploadDeps } from "./deps.ts";
import { deleteUpload } from "./quota.ts";
import { assertNoWriter, openSession } from "./session.ts";

/** storage.upload.cancel */
export const cancel =
  (deps: Pick<UploadDeps, "mesh" | "now" | "uploads" | "staging">): Handler<typeof uploads.cancel> =>
  async (context, { name, id }) => {
    const { value, revision } = await openSession(deps, { ...context, server: name, id, to: uploads.cancel });
    assertNoWriter(value, deps.now());
    if (!(await deleteUpload(deps, id, revision))) throw context.fault("upload_busy");
    return null;
  };
