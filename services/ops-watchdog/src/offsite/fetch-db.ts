// Brings a bundle back from the bucket (docs/reference/off-site.md#fetch). It needs the bucket and the key, nothing else.

import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, open } from "@svc/sealed";
import { syncPath, writeChunks } from "../bundle/durable.ts";
import { findingOf } from "../bundle/finding.ts";
import type { Manifest } from "../bundle/manifest.ts";
import { type BundleName, parseBundleName } from "../bundle/name.ts";
import { readManifestFrom, sidecarOf, verifyBundle } from "../bundle/verify.ts";
import { bundleOfKey, keyOfBundle } from "./object-key.ts";
import { openReceived } from "./release-chunks.ts";

type FetchDbDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  bundleDir: string;
  step: (name: string) => void;
  signal: AbortSignal;
};

export type FetchedBundle = {
  name: string;
  path: string;
  counts: Manifest["counts"];
  /** It was in the folder, whole. */
  was_in_place: boolean;
};

/** `name` is that of a bundle, or `latest`. `force` takes the latest even if it looks empty. */
export async function fetchDb(
  deps: FetchDbDeps,
  { name, force }: { name: string; force: boolean },
): Promise<FetchedBundle> {
  const bundles = await listCopies(deps);
  const wanted = name === "latest" ? bundles[0] : bundles.find((one) => one.name === name);
  if (!wanted)
    throw new Error(
      name === "latest"
        ? "the bucket has no bundle; check offsite.bucket and offsite.prefix"
        : `${name} is not in the bucket; \`svc offsite list\` lists the bundles`,
    );
  if (name === "latest" && !force) await refuseEmpty(deps, bundles);
  const path = join(deps.bundleDir, wanted.name);
  const local = await verifyBundle(path, { rows: false, sidecar: true }).catch(() => undefined);
  if (local?.manifest.name === wanted.name)
    return { name: wanted.name, path, counts: local.manifest.counts, was_in_place: true };
  const manifest = await download(deps, wanted.name, path);
  return { name: wanted.name, path, counts: manifest.counts, was_in_place: false };
}

/** Newest first. */
async function listCopies({ bucket, signal }: FetchDbDeps): Promise<BundleName[]> {
  const found: BundleName[] = [];
  for await (const { key } of bucket.list("db/", { signal })) found.push(...[bundleOfKey(key) ?? []].flat());
  return found.sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
}

/** Whoever starts an installation anew on an old bucket would else get its first, empty bundle back. */
async function refuseEmpty(deps: FetchDbDeps, bundles: readonly BundleName[]): Promise<void> {
  const [newest, ...older] = bundles;
  if (!newest) return;
  const { counts } = await readCopiedManifest(deps, newest.name);
  if (counts.servers > 0 || counts.accounts > 1) return;
  for (const { name } of older) {
    const found = await readCopiedManifest(deps, name).catch(() => undefined);
    if (!found || (found.counts.servers === 0 && found.counts.accounts <= counts.accounts)) continue;
    throw new Error(
      `the newest bundle ${newest.name} looks empty (${counts.accounts} accounts, ${counts.servers} servers), and ${name} has ${found.counts.accounts} accounts and ${found.counts.servers} servers; name the one that you want, or add --force`,
    );
  }
}

/** The manifest at the beginning of a copy; throws when it is of another bundle. */
export async function readCopiedManifest(
  { bucket, ring, signal }: Pick<FetchDbDeps, "bucket" | "ring" | "signal">,
  name: string,
): Promise<Manifest> {
  const found = await bucket.get(keyOfBundle(name), { signal });
  if (!found) throw new Error(`${name} is not in the bucket`);
  const chunks = open(found.bytes, ring);
  try {
    const manifest = await readManifestFrom({ take: takeFrom(chunks) });
    assertName(manifest, name);
    return manifest;
  } finally {
    await chunks.return(undefined);
  }
}

function assertName(manifest: Manifest, name: string): void {
  if (manifest.name === name) return;
  throw new Error(
    `the copy ${name} is ${manifest.name} under another name; the bucket was changed from outside`,
  );
}

function takeFrom(chunks: AsyncGenerator<Buffer>): (size: number) => Promise<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  return async (size) => {
    const parts = [held];
    let length = held.length;
    while (length < size) {
      const next = await chunks.next();
      if (next.done) throw new Error("the copy ends before its manifest does");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = Buffer.concat(parts);
    held = all.subarray(size);
    return all.subarray(0, size);
  };
}

/** Writes a hidden partial file, reads it to its last row and gives it its name. */
async function download(deps: FetchDbDeps, name: string, path: string): Promise<Manifest> {
  const { bucket, ring, bundleDir, signal, step } = deps;
  if (!parseBundleName(name)) throw new Error(`${name} is not the name of a bundle`);
  await mkdir(bundleDir, { recursive: true, mode: 0o700 });
  await chmod(bundleDir, 0o700);
  const partial = join(bundleDir, `.${name}.partial`);
  try {
    step("download");
    const found = await bucket.get(keyOfBundle(name), { signal });
    if (!found) throw new Error(`${name} is not in the bucket any more`);
    await writeChunks(partial, openReceived(found.bytes, ring));
    step("verify");
    const { manifest, sha256 } = await verifyBundle(partial, { rows: true, sidecar: false });
    assertName(manifest, name);
    step("place");
    // In this order a killed process leaves a bundle that counts as damaged, and the next fetch replaces it.
    await rm(findingOf(path), { force: true });
    await writeFile(sidecarOf(path), `${sha256}  ${name}\n`, { mode: 0o600, flush: true });
    step("rename");
    await rename(partial, path);
    await syncPath(bundleDir);
    return manifest;
  } finally {
    await rm(partial, { force: true });
  }
}
