import type { Context } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { AnyContract } from "@svc/proto";
import type { FileDeps } from "./deps.ts";

type Entry = { action: string; server: string; path?: string; payload?: Record<string, unknown> };

/** Writes one audit entry; a file is written as `<server>:<path>` (docs/reference/files.md#changes). */
export function auditFile(
  { mesh }: Pick<FileDeps, "mesh">,
  context: Pick<Context<AnyContract>, "principal" | "client" | "requestId">,
  { action, server, path, payload }: Entry,
): void {
  const server_name = path === undefined ? server : `${server}:${path}`;
  mesh.audit({ ...auditActor(context), action, server_name, ...(payload && { payload }) });
}
