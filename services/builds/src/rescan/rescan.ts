// Scans images that are allowed or in use again: what was harmless yesterday may not be today.

import type { Mesh } from "@svc/mesh";
import { parseReference } from "@svc/registry";
import type { Logger } from "@svc/telemetry";
import { createBuild } from "../build/create.ts";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { pinned } from "../image/reference.ts";
import type { PlatformRegistry } from "../image/registry.ts";
import { startRecurring } from "../recurring.ts";
import { imagesOfServers } from "../registry/sources.ts";
import { decideRescans, type UsedImage } from "./decide.ts";
import { deleteScansBeside, findLastScans, listAllowedTags, saveDigest } from "./store.ts";

export type RescanDeps = {
  db: BuildsDb;
  mesh: Pick<Mesh, "call">;
  settings: Settings;
  registry: PlatformRegistry;
  log: Pick<Logger, "info" | "warn">;
  now: () => number;
};

const roundEveryMs = 5 * 60_000;
/** Where the steps of a build take the scanner's database from, with the tag that Trivy asks for. */
const database = { path: "mirror/trivy-db", tag: "2" };
/** Of one round; the next begins when they are done. */
const mostOfRound = 50;

/** One replica asks for what is due; the pipeline runs it. */
export function startRescans(deps: RescanDeps): { close: () => Promise<void> } {
  const everyMs = Math.min(deps.settings.registry.rescan_every, roundEveryMs);
  return startRecurring({
    db: deps.db,
    log: deps.log,
    name: "scan of images",
    everyMs,
    retryMs: everyMs,
    work: (signal) => requestRescans(deps, signal),
  });
}

async function requestRescans(deps: RescanDeps, signal: AbortSignal): Promise<void> {
  const { db, settings, registry, now, log } = deps;
  const images = [...(await allowedImages(deps, signal)), ...(await usedImages(deps))];
  await deleteScansBeside(
    db,
    images.map(({ ref }) => ref),
  );
  const last = await findLastScans(
    db,
    images.map(({ digest }) => digest),
  );
  const databaseAt = await registry.pushedAt(database, signal);
  const about = { now: now(), everyMs: settings.registry.rescan_every, most: mostOfRound, databaseAt };
  const due = decideRescans({ images, last }, about);
  if (due.length === 0) return;
  await db.transaction().execute(async (trx) => {
    for (const { ref, digest } of due)
      await createBuild(trx, { imageRef: ref, contextRef: "", scanOf: digest, requestedBy: "svc" });
  });
  log.info({ images: due.length }, "scans requested");
}

/** What the tags of the whitelist name now. Throws when the registry can't be asked. */
async function allowedImages({ db, registry }: RescanDeps, signal: AbortSignal): Promise<UsedImage[]> {
  const images: UsedImage[] = [];
  for (const text of await listAllowedTags(db)) {
    const reference = parseReference(text);
    if (reference?.host !== registry.host) continue;
    const found = await registry.resolve(reference, signal);
    if (found.kind === "failed") throw found.cause;
    const digest = found.kind === "found" ? found.digest : null;
    await saveDigest(db, text, digest);
    if (digest !== null) images.push({ ref: pinned(reference, digest), digest });
  }
  return images;
}

/** What servers are pinned to. Throws when lifecycle can't be asked. */
async function usedImages({ mesh, registry }: RescanDeps): Promise<UsedImage[]> {
  const refs = (await imagesOfServers(mesh)).flatMap(({ images }) => images);
  return refs.flatMap((ref) => {
    const reference = parseReference(ref);
    if (reference?.host !== registry.host || reference.digest === undefined) return [];
    return [{ ref, digest: reference.digest }];
  });
}
