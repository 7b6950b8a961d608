// Copies by kind, as the panel and `svc offsite status` show them.

import type { offsites } from "@svc/proto";
import { sealedSize } from "@svc/sealed";
import type { Run } from "../wal/folder.ts";
import { kindOfFolder } from "./indexes.ts";
import {
  bundleOfKey,
  indexFolders,
  keyOfArchive,
  keyOfBundle,
  manifestOfKey,
  packOfKey,
  partOfKey,
} from "./object-key.ts";
import { packedStateIn } from "./packed.ts";
import type { Pass } from "./pass-context.ts";
import { type Archive, type CopyState, lackingArchives } from "./plan-archives.ts";
import { copyStateIn } from "./send-archives.ts";
import { findCopied } from "./send-bundles.ts";
import type { Indexed } from "./send-indexed.ts";
import { lackingParts } from "./send-wal.ts";
import { keyOfWal, walOfKey } from "./wal-key.ts";

const shown = 100;

type Known = { archives: readonly Archive[]; indexed: Indexed };

export async function kindsOf(
  pass: Pick<Pass, "listing" | "packed" | "bundleDir" | "settings">,
  { archives, indexed }: Known,
): Promise<offsites.OffsiteKindStatus[]> {
  const bundles = await findCopied(pass.bundleDir, pass.settings.db_keep);
  const worlds = lackingArchives(archives, copyStateIn(pass));
  return [
    kindOf(
      pass,
      "db",
      lackingIn(
        pass,
        bundles.map(({ name, sizeBytes }) => ({ key: keyOfBundle(name), sizeBytes })),
      ),
    ),
    {
      ...kindOf(pass, "worlds", {
        missing: worlds.missing.map(({ archive }) => keyOfArchive(archive)),
        notWhole: worlds.notWhole.map(({ archive }) => keyOfArchive(archive)),
      }),
      ...packedOf(pass),
    },
    ...indexFolders.map((folder) =>
      kindOf(pass, kindOfFolder[folder], lackingIn(pass, indexed[folder] ?? [])),
    ),
  ];
}

function packedOf(pass: Pick<Pass, "listing" | "packed">): Pick<offsites.OffsiteKindStatus, "packed"> {
  const packed = { copies: 0, whole_bytes: 0, packs: 0, bytes: 0 };
  const stateOf = packedStateIn(pass);
  let objects = 0;
  for (const { key, sizeBytes } of pass.listing.all()) {
    const isPack = packOfKey(key) !== undefined;
    if (!isPack && manifestOfKey(key) === undefined) continue;
    objects += 1;
    packed.bytes += sizeBytes;
    const copy = pass.packed.copies.get(key);
    if (isPack) packed.packs += 1;
    else if (
      copy &&
      stateOf({ archive: copy.archive, size_bytes: copy.sizeBytes, sha256: copy.sha256 }) === "whole"
    ) {
      packed.copies += 1;
      packed.whole_bytes += sealedSize(copy.sizeBytes);
    }
  }
  return objects === 0 ? {} : { packed };
}

/** Of the log; `runs` as they were when their copies were sent. */
export async function walCopiesOf(
  { listing }: Pick<Pass, "listing">,
  runs: readonly Run[],
): Promise<offsites.OffsiteCopies> {
  const parts = await Promise.all(runs.map((run) => lackingParts({ listing }, run)));
  const keys = parts.flat().map(({ path }) => keyOfWal(path));
  const isThere = (key: string) => listing.find(key) !== undefined;
  const lacking = { missing: keys.filter((key) => !isThere(key)), notWhole: keys.filter(isThere) };
  return copiesOf({ listing }, (key) => walOfKey(key) !== undefined, lacking);
}

type Lacking = { missing: string[]; notWhole: string[] };

function lackingIn(
  { listing }: Pick<Pass, "listing">,
  wanted: readonly { key: string; sizeBytes: number }[],
): Lacking {
  const states = Map.groupBy(wanted, ({ key, sizeBytes }) => listing.stateOf(key, sealedSize(sizeBytes)));
  const keysIn = (state: CopyState) => (states.get(state) ?? []).map(({ key }) => key);
  return { missing: keysIn("none"), notWhole: keysIn("not_whole") };
}

const isOfKind: Record<offsites.OffsiteKind, (key: string) => boolean> = {
  db: (key) => bundleOfKey(key) !== undefined,
  worlds: (key) => key.startsWith("worlds/"),
  images: (key) => partOfKey(key)?.folder === "registry",
  uploads: (key) => partOfKey(key)?.folder === "uploads",
};

function kindOf(
  pass: Pick<Pass, "listing">,
  kind: offsites.OffsiteKind,
  lacking: Lacking,
): offsites.OffsiteKindStatus {
  return { kind, ...copiesOf(pass, isOfKind[kind], lacking) };
}

function copiesOf(
  { listing }: Pick<Pass, "listing">,
  isOne: (key: string) => boolean,
  { missing, notWhole }: Lacking,
): offsites.OffsiteCopies {
  const objects = listing.all().filter(({ key }) => isOne(key));
  return {
    objects: objects.length,
    bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    missing: missing.sort().slice(0, shown),
    missing_count: missing.length,
    not_whole: notWhole.sort().slice(0, shown),
    not_whole_count: notWhole.length,
  };
}
