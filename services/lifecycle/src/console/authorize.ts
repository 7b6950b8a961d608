// Who may use the console of a server (docs/reference/console.md#access).

import type { Context } from "@svc/mesh";
import { type AnyContract, Fault } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { hasLog, mayUseConsole, takesCommands } from "./policy.ts";

type Caller = Pick<Context<AnyContract>, "principal">;

/** Throws `bad_name`, `not_found`, `forbidden`. */
async function authorize(deps: ServerDeps, { principal }: Caller, name: string): Promise<Server> {
  const server = await findByUserName(deps, name);
  const row = await deps.store.find(name);
  if (mayUseConsole(principal, row?.ownerId)) return server;
  throw new Fault("forbidden", { message: "Only the owner of a server and staff may use its console." });
}

/** The server whose log is read. Also throws `not_running`. */
export async function authorizeReading(deps: ServerDeps, caller: Caller, name: string): Promise<Server> {
  const server = await authorize(deps, caller, name);
  if (hasLog(server)) return server;
  throw new Fault("not_running", { message: "The server is not running; start it to see its console." });
}

/** The server that a command is for. Also throws `not_running`. */
export async function authorizeCommands(deps: ServerDeps, caller: Caller, name: string): Promise<Server> {
  const server = await authorize(deps, caller, name);
  if (takesCommands(server)) return server;
  const message =
    server.status?.phase === "Starting"
      ? "The server is still starting; try again when it is running."
      : "The server is not running; start it first.";
  throw new Fault("not_running", { message });
}
