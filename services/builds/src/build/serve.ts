import type { Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { builds } from "@svc/proto";
import type { Store } from "@svc/store";
import type { Logger, Registry } from "@svc/telemetry";
import type { BuildSecrets, Settings } from "../config.ts";
import type { Tables } from "../database.ts";
import type { Attest } from "./attest.ts";
import { createCancel } from "./cancel.ts";
import type { BuildDeps, OnBuildEnded } from "./deps.ts";
import { startLeading } from "./leader.ts";
import { createList } from "./list.ts";
import { createBuildMetrics } from "./metrics.ts";
import { createRead } from "./read.ts";
import { createRebuild, createRetry } from "./retry.ts";
import { createStart } from "./start.ts";
import type { TagImage } from "./tag.ts";
import { createWatchLog } from "./watch-log.ts";

type BuildNeeds = {
  mesh: Mesh;
  store: Store<Tables>;
  settings: Settings;
  /** Undefined where builds are not set up: then nothing runs, and what is stored can be read. */
  kube: Kube | undefined;
  secrets: () => BuildSecrets;
  onEnded: OnBuildEnded;
  attest: Attest;
  tagImage: TagImage;
  registry: Registry;
  log: Logger;
  now?: (() => number) | undefined;
};

/** Serves builds and brings them forward until closed. */
export function startPipeline(needs: BuildNeeds): { close: () => Promise<void> } {
  const { mesh, store, kube } = needs;
  const deps: BuildDeps = {
    ...needs,
    db: store.db,
    metrics: createBuildMetrics(needs.registry),
    now: needs.now ?? Date.now,
  };
  mesh.serve(builds.startBuild, createStart(deps));
  mesh.serve(builds.listBuilds, createList(deps));
  mesh.serve(builds.readBuild, createRead(deps));
  mesh.serve(builds.watchLog, createWatchLog(deps));
  mesh.serve(builds.cancelBuild, createCancel(deps));
  mesh.serve(builds.retryBuild, createRetry(deps));
  mesh.serve(builds.rebuild, createRebuild(deps));
  const leading = kube && startLeading({ ...deps, kube }, store);
  return { close: async () => void (await leading?.close()) };
}
