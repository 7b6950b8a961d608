import type { Context, Mesh } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { AnyContract } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
import type { Followers } from "./followers.ts";
import type { ServerRcon } from "./rcon.ts";

/** What sends commands to servers. */
export type CommandDeps = ServerDeps & { rcon: Pick<ServerRcon, "run" | "query"> };

/** What the handlers of consoles and access work with. */
export type ConsoleDeps = ServerDeps & {
  mesh: Pick<Mesh, "call" | "audit" | "publishLiveLine">;
  rcon: ServerRcon;
  followers: Followers;
};

/** Before a command is sent: nobody can tell afterwards whether it ran. */
export async function audit(
  { store }: Pick<ServerDeps, "store">,
  context: Context<AnyContract>,
  about: { action: string; server_name: string; payload: Record<string, unknown> },
): Promise<void> {
  await store.audits.record({ ...auditActor(context), ...about });
}
