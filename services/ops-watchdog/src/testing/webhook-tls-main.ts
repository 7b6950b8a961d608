// Makes one attempt for each address of its first argument, or one POST to a pinned address, and prints how they went: which
// authorities a process trusts is settled when it starts.

import { post } from "../outgoing/post.ts";
import { attempt } from "../webhook/attempt.ts";
import { failureOf } from "../webhook/failure.ts";
import type { DeliveryRow, WebhookRow } from "../webhook/queue.ts";

export type TlsCase = {
  url: string;
  /** Address that is connected to, whatever the name; otherwise it is looked up. */
  pinned?: string;
};

const delivery = {
  ...{ id: "dlv_1", event_id: "evt_1", type: "ping", server_name: null },
  ...{ at: new Date(), data: {}, attempts: 1 },
} as unknown as DeliveryRow;

async function attemptAt(url: string): Promise<string> {
  const webhook = { url, format: "slack", language: "en", secret: null } as WebhookRow;
  const { outcome } = await attempt(
    { delivery, webhook },
    {
      reach: { ports: [443], inside: [new URL(url).origin] },
      resolve: async () => [],
      ...{ withinMs: 60_000, installation: "svc.example.org" },
    },
  );
  return outcome.kind === "failed" ? outcome.error : String(outcome.status);
}

async function postTo(url: string, address: string): Promise<string> {
  const about = { body: "{}", headers: {}, mostBytes: 0, signal: AbortSignal.timeout(60_000) };
  return post(new URL(url), { ...about, addresses: [{ address, family: 4 }] }).then(
    ({ status }) => String(status),
    (error: Error) => failureOf(error).error,
  );
}

const cases = JSON.parse(process.argv[2] ?? "[]") as TlsCase[];
const said: string[] = [];
for (const { url, pinned } of cases)
  said.push(pinned === undefined ? await attemptAt(url) : await postTo(url, pinned));
process.stdout.write(JSON.stringify(said));
