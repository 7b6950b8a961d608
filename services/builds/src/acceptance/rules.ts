// What an acceptance may say, and which apply to an image (docs/reference/builds.md#acceptances). Pure.

import { Fault, type scans } from "@svc/proto";
import { parseReference } from "@svc/registry";

/** Acceptances of one repository, and of every image: the task of a build holds both, in one variable of its containers. */
export const mostAcceptances = 80;
/** The gate shortens longer names in a summary, so what is longer can't be named exactly. */
const mostPackageBytes = 199;

/** Throws `bad_request`. */
export function readPackage(given: string): string {
  if (Buffer.byteLength(given) > mostPackageBytes || /\p{Cc}/u.test(given)) {
    const message = `package: must be at most ${mostPackageBytes} bytes without control characters`;
    throw new Fault("bad_request", { message });
  }
  return given;
}

/** A repository of the platform's registry; undefined for every image. Throws `bad_request`. */
export function readRepository(given: string | undefined, host: string): string | undefined {
  if (given === undefined) return undefined;
  const reference = parseReference(given);
  const isRepository = reference && reference.tag === undefined && reference.digest === undefined;
  if (isRepository && reference.host === host) return reference.name;
  throw new Fault("bad_request", {
    message: `repository: must be a repository of ${host} without a tag, such as ${host}/packs/skyblock`,
  });
}

/** Throws `bad_request` for a time that is over or too far away. */
export function readExpiry(given: string, { now, longestMs }: { now: number; longestMs: number }): Date {
  const at = new Date(given);
  if (at.getTime() > now && at.getTime() <= now + longestMs) return at;
  const latest = new Date(now + longestMs).toISOString();
  throw new Fault("bad_request", { message: `expires_at: must be in the future and not after ${latest}` });
}

/** The repository of an image as acceptances name it. */
export function repositoryOf(imageRef: string): string {
  return parseReference(imageRef)?.name ?? imageRef;
}

type Accepted = {
  id: string;
  finding_id: string;
  package: string;
  accepted_by: string;
  expires_at: Date;
};

/** What the gate of a build is told. */
export function toPolicy(rows: readonly Accepted[]): NonNullable<scans.ScanPolicy["accepted"]> {
  return rows.map((row) => ({
    id: row.id,
    finding_id: row.finding_id,
    package: row.package,
    by: row.accepted_by,
    until: row.expires_at.toISOString(),
  }));
}
