// Who may use the console of a server (docs/reference/shared-access.md#decision).

import type { Context } from "@svc/mesh";
import { type AnyContract, Fault } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { Server } from "../cluster/resource.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { hasLog, takesCommands } from "./policy.ts";

type Caller = Pick<Context<AnyContract>, "principal">;
type Wanted = {
  name: string;
  to: Pick<AnyContract, "http">;
  /** What will be sent to the game, where the contract asks for the right to run commands. */
  command?: string;
};

/** Throws `bad_name`, `not_found`, `forbidden`. */
async function authorize(deps: ServerDeps, caller: Caller, wanted: Wanted): Promise<Server> {
  const server = await findByUserName(deps, wanted.name);
  assertAccess(caller, { ...wanted, row: await deps.store.find(wanted.name) });
  return server;
}

/** The server whose log is read. Also throws `not_running`. */
export async function authorizeReading(deps: ServerDeps, caller: Caller, wanted: Wanted): Promise<Server> {
  const server = await authorize(deps, caller, wanted);
  if (hasLog(server)) return server;
  throw new Fault("not_running", { message: "The server is not running; start it to see its console." });
}

/** The server that a command is for. Also throws `not_running`. */
export async function authorizeCommands(deps: ServerDeps, caller: Caller, wanted: Wanted): Promise<Server> {
  const server = await authorize(deps, caller, wanted);
  if (takesCommands(server)) return server;
  const message =
    server.status?.phase === "Starting"
      ? "The server is still starting; try again when it is running."
      : "The server is not running; start it first.";
  throw new Fault("not_running", { message });
}
