// Copies by kind, as the panel and `svc offsite status` show them.

import type { offsites } from "@svc/proto";
import { sealedSize } from "@svc/sealed";
import { kindOfFolder } from "./indexes.ts";
import { bundleOfKey, indexFolders, keyOfArchive, keyOfBundle, partOfKey } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { type Archive, type CopyState, lackingArchives } from "./plan-archives.ts";
import { copyStateIn } from "./send-archives.ts";
import { findCopied } from "./send-bundles.ts";
import type { Indexed } from "./send-indexed.ts";

const shown = 100;

type Known = { archives: readonly Archive[]; indexed: Indexed };

export async function kindsOf(
  pass: Pick<Pass, "listing" | "bundleDir" | "settings">,
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
    kindOf(pass, "worlds", {
      missing: worlds.missing.map(({ archive }) => keyOfArchive(archive)),
      notWhole: worlds.notWhole.map(({ archive }) => keyOfArchive(archive)),
    }),
    ...indexFolders.map((folder) =>
      kindOf(pass, kindOfFolder[folder], lackingIn(pass, indexed[folder] ?? [])),
    ),
  ];
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
  { listing }: Pick<Pass, "listing">,
  kind: offsites.OffsiteKind,
  { missing, notWhole }: Lacking,
): offsites.OffsiteKindStatus {
  const objects = listing.all().filter(({ key }) => isOfKind[kind](key));
  return {
    kind,
    objects: objects.length,
    bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    missing: missing.sort().slice(0, shown),
    missing_count: missing.length,
    not_whole: notWhole.sort().slice(0, shown),
    not_whole_count: notWhole.length,
  };
}
