// Where `registry.require_provenance` is set, only what a build of this installation made is admitted. The record of
// builds decides, since everybody with the right to push could put a statement into the registry.

import type { Reference } from "@svc/registry";
import type { Settings } from "../config.ts";
import type { BuildsDb } from "../database.ts";
import { hasProvenance } from "./store.ts";

export type ProvenanceCheck = {
  isRequired: boolean;
  /** Whether an image may be used; `digest` is undefined for one that no registry of ours has. */
  passes: (reference: Reference, digest: string | undefined) => Promise<boolean>;
};

/** What the gate lets only the platform write. */
const ownPrefix = "svc/";

export function createProvenanceCheck({
  db,
  settings,
}: {
  db: BuildsDb;
  settings: Settings;
}): ProvenanceCheck {
  const { require_provenance: isRequired, url } = settings.registry;
  return {
    isRequired,
    passes: async ({ host, path }, digest) => {
      if (!isRequired) return true;
      if (host !== url || digest === undefined) return false;
      return path.startsWith(ownPrefix) || (await hasProvenance(db, digest));
    },
  };
}
