// Table of contents: which handler answers which contract.

import { connectKube, type Kube } from "@svc/kube";
import { buildsHealth } from "@svc/proto";
import type { Registry } from "@svc/registry";
import type { Running, Runtime } from "@svc/service";
import { serveAcceptances } from "./acceptance/serve.ts";
import { announceEnd } from "./build/announce.ts";
import { createAttest } from "./build/attest.ts";
import type { OnBuildEnded } from "./build/deps.ts";
import { missingSetting } from "./build/policy.ts";
import { startPipeline } from "./build/serve.ts";
import { createTagImage } from "./build/tag.ts";
import { kubeconfigFile, readBuildSecrets, type Settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { createReadHealth } from "./health/read.ts";
import { serveImages } from "./image/serve.ts";
import { seedRecommended } from "./image/store.ts";
import { serveOutdated } from "./outdated/serve.ts";
import { serveProvenance } from "./provenance/serve.ts";
import { serveRegistry } from "./registry/serve.ts";
import { serveRescans } from "./rescan/serve.ts";
import { serveScans } from "./scan/serve.ts";
import { startSubmissions } from "./submission/serve.ts";

type BuildsRuntime = Pick<Runtime<Settings, Tables>, "settings" | "mesh" | "store" | "log" | "registry">;

type Options = {
  kube?: Kube;
  now?: () => number;
  env?: NodeJS.ProcessEnv;
  onBuildEnded?: OnBuildEnded;
  /** Where provenance is kept and images are tagged, over that of the settings. */
  pushRegistry?: Registry;
};

/** Starts builds on a connected mesh and a checked schema. */
export async function startBuilds(runtime: BuildsRuntime, options: Options = {}): Promise<Running> {
  const { settings, mesh, store, log, registry } = runtime;
  const { db } = store;
  await seedRecommended(db, settings.builds.recommended);
  serveImages({ db, mesh, settings });
  serveScans({ db, mesh });
  serveProvenance({ db, mesh, settings });
  mesh.serve(buildsHealth.readBuildsHealth, createReadHealth({ db, now: options.now ?? Date.now }));
  serveAcceptances({ db, mesh, settings, now: options.now });
  const pruning = serveRegistry({ db, mesh, settings, log, metrics: registry, env: options.env });
  serveOutdated({ db, mesh, settings });
  const rescans = serveRescans({ db, mesh, settings, log, now: options.now ?? Date.now });
  const missing = missingSetting(settings);
  if (missing !== undefined) log.info({ setting: missing }, "builds are not set up");
  else if (!settings.builds.egress_gate) log.warn("builds run without the egress gate");
  const kube =
    missing === undefined ? (options.kube ?? connectKube({ kubeconfigFile: kubeconfigFile() })) : undefined;
  const submissions = await startSubmissions({ db, mesh, settings, log, registry, env: options.env });
  const push = {
    settings,
    pushCredential: () => readBuildSecrets(settings, options.env).pushCredential,
    registry: options.pushRegistry,
  };
  const pipeline = startPipeline({
    ...runtime,
    kube,
    secrets: () => readBuildSecrets(settings, options.env),
    onEnded: async (trx, build) => {
      await announceEnd(trx, build, settings);
      await submissions.onBuildEnded(trx);
      await options.onBuildEnded?.(trx, build);
    },
    attest: createAttest(push),
    tagImage: createTagImage(push),
    now: options.now,
  });
  return {
    stop: async () => {
      await Promise.all([pruning.stop(), rescans.close(), pipeline.close(), submissions.close()]);
      if (!options.kube) kube?.close();
    },
  };
}
