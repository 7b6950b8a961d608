import type { Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import type { Logger } from "@svc/telemetry";
import type { BuildSecrets, Settings } from "../config.ts";
import type { BuildsDb, BuildsTrx } from "../database.ts";
import type { Attest } from "./attest.ts";
import type { BuildMetrics } from "./metrics.ts";
import type { BuildRow } from "./row.ts";
import type { TagImage } from "./tag.ts";

/** Called in the transaction that ends a build, so that what it writes is there if and only if the end is. */
export type OnBuildEnded = (trx: BuildsTrx, build: BuildRow) => Promise<void>;

/** The dependencies of builds; functions pick what they need. */
export type BuildDeps = {
  /** Undefined where builds are not set up. */
  kube: Kube | undefined;
  mesh: Pick<Mesh, "serve" | "byteTransfers" | "openLiveLog" | "endLiveLog">;
  db: BuildsDb;
  settings: Settings;
  /** Read at each launch: tokens are rotated. */
  secrets: () => BuildSecrets;
  onEnded: OnBuildEnded;
  attest: Attest;
  tagImage: TagImage;
  metrics: BuildMetrics;
  log: Logger;
  /** Unix milliseconds. */
  now: () => number;
};

/** For what talks to the cluster. */
export type ClusterDeps = BuildDeps & { kube: Kube };

export function inNamespace({ settings }: Pick<BuildDeps, "settings">) {
  return { namespace: settings.registry.build_namespace };
}
