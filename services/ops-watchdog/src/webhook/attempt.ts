// One attempt of a delivery (docs/reference/webhooks.md#request).

import { post } from "../outgoing/post.ts";
import { checkUrl, findAddresses, type Reach, type Resolve } from "./address.ts";
import { type Outcome, retryAfterOf } from "./backoff.ts";
import { failureOf, failureOfCode, UnsentError } from "./failure.ts";
import { bodyOf } from "./message.ts";
import type { Attempted, DeliveryRow, WebhookRow } from "./queue.ts";
import { signatureHeaders, validSecrets } from "./signature.ts";

/** Of an answer this is read, and of that this is kept. */
const mostBytes = 4_096;
const mostKeptCharacters = 1_024;

export type Sending = {
  reach: Reach;
  resolve: Resolve;
  /** Longest time of all of it. */
  withinMs: number;
  /** Name of the installation. */
  installation: string;
};

type Given = Pick<DeliveryRow, "id" | "event_id" | "type" | "server_name" | "at" | "data" | "attempts">;

/** Sends it once; never throws. */
export async function attempt(
  { delivery, webhook }: { delivery: Given; webhook: WebhookRow },
  sending: Sending,
): Promise<Attempted> {
  const begunAt = performance.now();
  const signal = AbortSignal.timeout(sending.withinMs);
  const { outcome, response } = await send({ delivery, webhook }, { ...sending, signal }).catch(
    (error: Error): Pick<Attempted, "outcome" | "response"> => ({
      outcome: { kind: "failed", ...(signal.aborted ? failureOfCode("timeout") : failureOf(error)) },
      response: "",
    }),
  );
  return { outcome, response, durationMs: Math.round(performance.now() - begunAt) };
}

async function send(
  { delivery, webhook }: { delivery: Given; webhook: WebhookRow },
  { reach, resolve, signal, installation }: Sending & { signal: AbortSignal },
): Promise<Pick<Attempted, "outcome" | "response">> {
  const checked = checkUrl(webhook.url, reach);
  if ("problem" in checked) throw new UnsentError("bad_url", checked.problem);
  const addresses = await findAddresses(checked, { resolve, signal });
  const body = bodyOf(delivery, { format: webhook.format, language: webhook.language, installation });
  const now = Date.now();
  const headers = {
    "content-type": "application/json",
    "user-agent": "svc-webhook",
    "svc-event": delivery.type,
    "svc-delivery": delivery.id,
    "svc-attempt": String(delivery.attempts),
    ...signatureHeaders(body, { secrets: validSecrets(webhook, now), now }),
  };
  const answer = await post(checked.url, { body, headers, addresses, signal, mostBytes });
  const retryAfterMs = retryAfterOf(answer.retryAfter);
  const outcome: Outcome = { kind: "answered", status: answer.status, retryAfterMs };
  return { outcome, response: printable(answer.beginning) };
}

/** The beginning of an answer as people can read it. */
export function printable(bytes: Buffer): string {
  const text = bytes.toString("utf8").slice(0, mostKeptCharacters);
  return text.replace(/\p{Cc}|\p{Bidi_Control}|\ufffd/gu, (one) => (one === "\n" || one === "\t" ? one : ""));
}
