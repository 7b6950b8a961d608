import type { Handler } from "@svc/mesh";
import { uploads } from "@svc/proto";
import type { UploadDeps } from "./deps.ts";
import { openSession, toSession } from "./session.ts";

/** storage.upload.read-session */
export const readSession =
  (deps: Pick<UploadDeps, "mesh" | "uploads">): Handler<typeof uploads.readSession> =>
  async ({ principal }, { name, id }) =>
    toSession((await openSession(deps, { principal, server: name, id, to: uploads.readSession })).value);
