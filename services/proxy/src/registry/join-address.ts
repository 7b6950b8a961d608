import type { ServerInfo } from "@svc/proto";

/** The address where players of a server may be brought now; a stale one of a failed server is none (interface.md 3.1.3). */
export function joinAddress(server: ServerInfo): string | undefined {
  const isOpen = server.phase === "Running" && server.ready && server.endpointMode === "direct";
  return isOpen ? server.endpointAddress : undefined;
}
