// Keeps the provenance of a pushed image in the registry, before the image is put on the whitelist.

import { type buildJobs, provenances } from "@svc/proto";
import { parseReference, putReferrer, type Registry } from "@svc/registry";
import { buildVersion } from "../config.ts";
import type { ObservedBuild } from "./decide.ts";
import { type PushDeps, PushRefused, writeTo } from "./push-registry.ts";
import type { BuildRow } from "./row.ts";
import { statementOf } from "./statement.ts";

/** What the record of a build has of it. */
export type Attested = { manifestDigest: string; statement: string };

/** Repeats write the same bytes. Throws as `writeTo` does. */
export type Attest = (row: BuildRow, observed: ObservedBuild) => Promise<Attested>;

export function createAttest(deps: PushDeps): Attest {
  return async (row, observed) => {
    const { verdict, push } = observed;
    if (!verdict || !push) throw new Error("only a build with a verdict and a digest has provenance");
    const statement = JSON.stringify(
      statementOf({
        ...{ row, verdict, push, built: observed.built, fetched: observed.fetched },
        finishedAt: finishedAtOf(observed),
        version: buildVersion(),
      }),
    );
    const { path } = parseReference(row.image_ref) ?? { path: "" };
    const manifestDigest = await writeTo(deps, {
      what: "provenance",
      write: async (registry) =>
        putReferrer(registry, {
          path,
          subject: await subjectOf(registry, path, push),
          artifactType: provenances.provenanceType,
          content: Buffer.from(statement),
        }),
    });
    return { manifestDigest, statement };
  };
}

async function subjectOf(registry: Registry, path: string, { digest }: buildJobs.PushResult) {
  const head = await registry.headManifest(path, digest);
  if (!head) throw new PushRefused(`provenance: the registry no longer has ${path}@${digest}`);
  return head;
}

/** Of the last step, so that a repeat has the same bytes. */
function finishedAtOf({ steps, now }: ObservedBuild): Date {
  const last = steps.findLast(({ finishedAt }) => finishedAt !== undefined)?.finishedAt;
  return new Date(last ?? now);
}
