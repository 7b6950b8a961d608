import type { ServerInfo } from "@svc/proto";

/** The address where players of a server may be brought now; a stale one of a failed server is none (docs/reference/server-states.md#phases). */
export function joinAddress(server: ServerInfo): string | undefined {
  const isOpen = server.phase === "Running" && server.ready && server.endpointMode === "direct";
  return isOpen ? server.endpointAddress : undefined;
}
