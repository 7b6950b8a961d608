// Copies by kind, as the panel and `svc offsite status` show them.

import type { offsites } from "@svc/proto";
import { sealedSize } from "@svc/sealed";
import { bundleOfKey, keyOfArchive, keyOfBundle } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { type Archive, lackingArchives } from "./plan-archives.ts";
import { copyStateIn } from "./send-archives.ts";
import { findCopied } from "./send-bundles.ts";

const shown = 100;

export async function kindsOf(
  pass: Pick<Pass, "listing" | "bundleDir" | "settings">,
  archives: readonly Archive[],
): Promise<offsites.OffsiteKindStatus[]> {
  const { listing } = pass;
  const bundles = await findCopied(pass.bundleDir, pass.settings.db_keep);
  const stateOf = ({ name, sizeBytes }: { name: string; sizeBytes: number }) =>
    listing.stateOf(keyOfBundle(name), sealedSize(sizeBytes));
  const worlds = lackingArchives(archives, copyStateIn(pass));
  return [
    kindOf(pass, "db", {
      missing: bundles.filter((one) => stateOf(one) === "none").map(({ name }) => keyOfBundle(name)),
      notWhole: bundles.filter((one) => stateOf(one) === "not_whole").map(({ name }) => keyOfBundle(name)),
    }),
    kindOf(pass, "worlds", {
      missing: worlds.missing.map(({ archive }) => keyOfArchive(archive)),
      notWhole: worlds.notWhole.map(({ archive }) => keyOfArchive(archive)),
    }),
  ];
}

function kindOf(
  { listing }: Pick<Pass, "listing">,
  kind: "db" | "worlds",
  { missing, notWhole }: { missing: string[]; notWhole: string[] },
): offsites.OffsiteKindStatus {
  const isOfKind = (key: string) =>
    kind === "db" ? bundleOfKey(key) !== undefined : key.startsWith("worlds/");
  const objects = listing.all().filter(({ key }) => isOfKind(key));
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
