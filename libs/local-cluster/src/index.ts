export type { ClusterApi, KubeObject, PodLogOptions, PodLogs, ResourceRef } from "./cluster-api.ts";
export type { LocalCluster, LocalClusterOptions } from "./start.ts";
export { startLocalCluster } from "./start.ts";
export type { ServiceAccountName, TokenEntry } from "./tokens.ts";
export { accountUser } from "./tokens.ts";
