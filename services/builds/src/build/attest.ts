// Keeps the provenance of a pushed image in the registry, before the image is put on the whitelist.

import { type buildJobs, provenances } from "@svc/proto";
import { isRegistryError, openRegistry, parseReference, putReferrer, type Registry } from "@svc/registry";
import { buildVersion, type Settings } from "../config.ts";
import { isPlainHttp } from "../image/registry.ts";
import type { ObservedBuild } from "./decide.ts";
import type { BuildRow } from "./row.ts";
import { statementOf } from "./statement.ts";

/** What the end of a build stores of it. */
export type Attested = { manifestDigest: string; statement: string };

/** Throws `ProvenanceRefused` when a repeat has no use, and `RegistryError` while the registry is unavailable. */
export type Attest = (row: BuildRow, observed: ObservedBuild) => Promise<Attested>;

export class ProvenanceRefused extends Error {
  override readonly name = "ProvenanceRefused";
}

type Deps = {
  settings: Settings;
  /** `user:password` with the right to push, as it is now. */
  pushCredential: () => string | undefined;
  /** Over that of the settings, for tests. */
  registry?: Registry | undefined;
};

export function createAttest(deps: Deps): Attest {
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
    try {
      const registry = deps.registry ?? openForPush(deps);
      const manifestDigest = await putReferrer(registry, {
        path,
        subject: await subjectOf(registry, path, push),
        artifactType: provenances.provenanceType,
        content: Buffer.from(statement),
      });
      return { manifestDigest, statement };
    } catch (error) {
      if (!isRegistryError(error) || error.kind === "unavailable") throw error;
      throw new ProvenanceRefused(`provenance: ${error.message}`, { cause: error });
    }
  };
}

async function subjectOf(registry: Registry, path: string, { digest }: buildJobs.PushResult) {
  const head = await registry.headManifest(path, digest);
  if (!head) throw new ProvenanceRefused(`provenance: the registry no longer has ${path}@${digest}`);
  return head;
}

/** Of the last step, so that a repeat has the same bytes. */
function finishedAtOf({ steps, now }: ObservedBuild): Date {
  const last = steps.findLast(({ finishedAt }) => finishedAt !== undefined)?.finishedAt;
  return new Date(last ?? now);
}

function openForPush({ settings, pushCredential }: Deps): Registry {
  const { registry } = settings;
  const [user = "", ...rest] = (pushCredential() ?? "").split(":");
  const credential = user === "" ? undefined : { user, password: rest.join(":") };
  return openRegistry({
    host: registry.url,
    plainHttp: isPlainHttp(registry),
    timeoutMs: registry.timeout,
    credential,
  });
}
