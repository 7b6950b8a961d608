// Compares the changes of a world with its audit log.

import assert from "node:assert/strict";
import { until } from "@svc/mesh/testing";
import type { AuditEntry } from "@svc/proto";
import type { Fixture } from "./fixture.ts";

const outcomeOf = ({ payload }: AuditEntry) => String(payload["outcome"]);

/** The audit entries of a server's files, without duplicates. */
export async function fileAudits(
  { database, audits }: Pick<Fixture, "database" | "audits">,
  server: string,
): Promise<AuditEntry[]> {
  await until(async () => {
    const open = await database.admin("select 1 from storage.file_changes where server_name = $1", [server]);
    const waiting = await database.admin("select 1 from storage.outbox where subject = 'svc.audit.storage'");
    return open.length + waiting.length === 0;
  }, 20_000);
  const ofServer = () => audits.filter(({ server_name = "" }) => server_name.startsWith(`${server}:`));
  return [...new Map(ofServer().map((entry) => [entry.id, entry])).values()];
}

type Held = { server: string; action: string; isChanged: boolean };

/** Throws when the world changed without a matching entry, or when an entry claims a change that did not happen. */
export async function assertAudited(base: Pick<Fixture, "database" | "audits">, held: Held): Promise<void> {
  const { server, action, isChanged } = held;
  const outcomes = async () =>
    (await fileAudits(base, server)).filter((entry) => entry.action === action).map(outcomeOf);
  const claims = (received: string[]) => received.some((one) => one === "done" || one === "unknown");
  // An entry arrives a moment after it was published.
  if (isChanged) await until(async () => claims(await outcomes()), 10_000);
  const received = await outcomes();
  assert.ok(
    received.every((one) => ["done", "failed", "unknown"].includes(one)),
    received.join(),
  );
  if (!isChanged) assert.ok(!received.includes("done"), received.join());
}
