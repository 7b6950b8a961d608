import { readFile } from "node:fs/promises";
import { sealedSize } from "@svc/sealed";
import { type Found, listBundles } from "../bundle/folder.ts";
import { sidecarOf } from "../bundle/verify.ts";
import { keyOfBundle } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { send } from "./send.ts";
import { readFileBytes } from "./source.ts";

/** Copies the newest whole bundles that are not there yet. */
export async function sendBundles(pass: Pass): Promise<void> {
  const { bundleDir, settings, listing, progress, step } = pass;
  const newest = await findCopied(bundleDir, settings.db_keep);
  const due = newest.filter(
    ({ name, sizeBytes }) => listing.stateOf(keyOfBundle(name), sealedSize(sizeBytes)) !== "whole",
  );
  progress.expect(
    "db",
    due.map(({ sizeBytes }) => sealedSize(sizeBytes)),
  );
  for (const bundle of due) {
    step("bundle");
    await sendBundle(pass, bundle);
  }
}

/** Local bundles that should have a copy, newest first. */
export async function findCopied(bundleDir: string, keep: number): Promise<Found[]> {
  const whole = (await listBundles(bundleDir)).filter(({ problem }) => problem === undefined);
  const regular = whole.filter(({ label }) => label !== "offsite").slice(0, keep);
  return whole.filter((one, index) => index === 0 || regular.includes(one));
}

export async function sendBundle(pass: Pass, { name, path, sizeBytes }: Found): Promise<boolean> {
  const key = keyOfBundle(name);
  const onProgress = pass.progress.begin("db");
  const isSent = await pass.attempt(key, async () => {
    const sha256 = (await readFile(sidecarOf(path), "utf8")).slice(0, 64);
    const sent = await send(pass, { key, sizeBytes, sha256, open: () => readFileBytes(path), onProgress });
    pass.report.sent += 1;
    pass.report.sent_bytes += sent;
    pass.listing.added(key, sent);
  });
  pass.progress.end(sealedSize(sizeBytes));
  return isSent;
}
