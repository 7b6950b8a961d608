import type { Handler } from "@svc/mesh";
import type { uploads } from "@svc/proto";
import type { TransferDeps } from "../transfer/deps.ts";
import { openSession, toSession } from "./session.ts";

/** storage.upload.read-session */
export const readSession =
  (deps: TransferDeps): Handler<typeof uploads.readSession> =>
  async ({ principal }, { name, id }) =>
    toSession((await openSession(deps, { principal, server: name, id })).value);
