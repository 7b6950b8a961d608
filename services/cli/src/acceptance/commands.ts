// Findings of scans that are accepted as known risks (docs/reference/builds.md#acceptances).

import { acceptances } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { type Outcome, table } from "../output.ts";

type At = { data: string };
export type AcceptOptions = At & { package: string; reason: string; repository?: string; days: number };

const page = 100;
const dayMs = 86_400_000;

/** All of them, or those that apply to one repository; expired ones too. */
export async function listAcceptances({ data, repository }: At & { repository?: string }): Promise<Outcome> {
  const external = connectExternal(data);
  const found: acceptances.Acceptance[] = [];
  for (;;) {
    const answer = await external.call(acceptances.listAcceptances, {
      ...(repository !== undefined && { repository }),
      limit: page,
      offset: found.length,
    });
    found.push(...answer.acceptances);
    if (answer.acceptances.length === 0 || found.length >= answer.total) break;
  }
  const now = Date.now();
  const rows = found.map((one) => [
    ...[one.id, one.finding_id, one.package, one.repository ?? "every image"],
    Date.parse(one.expires_at) > now ? one.expires_at : `${one.expires_at} (expired)`,
    ...[one.accepted_by, one.reason],
  ]);
  const head = ["ID", "FINDING", "PACKAGE", "IMAGES", "UNTIL", "BY", "REASON"];
  return {
    json: { acceptances: found },
    text: rows.length === 0 ? "No findings are accepted." : table([head, ...rows]),
  };
}

/** Builds that start from now on are judged by it. */
export async function acceptFinding(finding: string, options: AcceptOptions): Promise<Outcome> {
  const { data, repository, reason, days } = options;
  const added = await connectExternal(data).call(acceptances.addAcceptance, {
    finding_id: finding,
    package: options.package,
    ...(repository !== undefined && { repository }),
    reason,
    expires_at: new Date(Date.now() + days * dayMs).toISOString(),
  });
  const where = added.repository ?? "every image";
  return {
    json: added,
    text:
      `Accepted ${added.finding_id} of ${added.package} for ${where} until ${added.expires_at}.\n` +
      "Builds that start from now on are judged by it; retry the one that it blocked.",
  };
}

export async function removeAcceptance(id: string, { data }: At): Promise<Outcome> {
  await connectExternal(data).call(acceptances.removeAcceptance, { id });
  return { json: { id, removed: true }, text: `Removed ${id}: the finding blocks from the next build on.` };
}
