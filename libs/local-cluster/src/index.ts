export type { LocalCluster } from "./start.ts";
export { startLocalCluster } from "./start.ts";
