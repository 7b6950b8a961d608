// Made-up servers of about 430 bytes of JSON each, the size that docs/performance.md measured with.

import type { ServerInfo, ServerOwnership } from "@svc/proto";

export function serverName(index: number): string {
  return `bench-${String(index).padStart(5, "0")}`;
}

export function makeServer(index: number): ServerInfo {
  const name = serverName(index);
  const isRunning = index % 10 === 0;
  return {
    name,
    subdomain: name,
    phase: isRunning ? "Running" : "Stopped",
    ready: isRunning,
    playersOnline: isRunning ? index % 7 : 0,
    playersMax: 20,
    idleStopSeconds: 600,
    nodeName: `node-${(index % 2) + 1}`,
    autostartPolicy: "allowlist",
    desiredState: isRunning ? "Running" : "Stopped",
    endpointMode: "direct",
    endpointAddress: `${name}.minecraft-servers.svc.cluster.local:25565`,
    displayName: `Bench server number ${index}`,
    image: "svc.local/demo-server:1.21.4",
    javaMemory: "1536M",
    memory: "2Gi",
    storageSize: "8Gi",
    cpu: "2",
  };
}

/** Every second server is the bench's own, the others can be claimed. */
export function makeOwnership(index: number): ServerOwnership {
  const name = serverName(index);
  const owner = { ownerId: "usr-bench", owner: "bench@example.org", ownerPlayer: "Bench" };
  return { name, subdomain: name, claimable: index % 2 === 1, ...(index % 2 === 0 && owner) };
}

export function makeServers(count: number): ServerInfo[] {
  return Array.from({ length: count }, (_, index) => makeServer(index));
}
