import type { ByteTransfers } from "@svc/mesh";
import type { StorageDeps } from "../deps.ts";
import type { Background } from "./background.ts";
import type { TransferMetrics } from "./metrics.ts";
import type { WorldRights } from "./world-rights.ts";

/** Dependencies that files, uploads and exports share. */
export type SharedDeps = StorageDeps & {
  byteTransfers: ByteTransfers;
  background: Background;
  rights: WorldRights;
  transferMetrics: TransferMetrics;
};
