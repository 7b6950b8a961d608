// Whether a delivery of a webhook comes from svc (docs/reference/webhooks.md#signature).

export type WebhookDelivery = {
  /** Exactly as it was received, before it is parsed. */
  body: string | Uint8Array;
  /** Header `Svc-Timestamp`. */
  timestamp: string | null | undefined;
  /** Header `Svc-Signature`. */
  signature: string | null | undefined;
  /** The secret, as it was shown when the webhook was made or its secret renewed. */
  secret: string;
  /** How old it may be; default 300. */
  toleranceSeconds?: number;
  /** Unix milliseconds; default now. */
  now?: number;
};

const mostSignatures = 4;

/** Whether it was signed with the secret, and lately. Compares in constant time. */
export async function verifyWebhook(delivery: WebhookDelivery): Promise<boolean> {
  const { body, timestamp, signature, secret, toleranceSeconds = 300, now = Date.now() } = delivery;
  if (!timestamp || !signature || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) return false;
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  const signed = joined(
    encoder.encode(`${timestamp}.`),
    typeof body === "string" ? encoder.encode(body) : body,
  );
  for (const one of signature.split(",").slice(0, mostSignatures)) {
    const [, hex] = /^\s*sha256=([0-9a-f]{64})\s*$/i.exec(one) ?? [];
    if (hex !== undefined && (await crypto.subtle.verify("HMAC", key, bytesOf(hex), signed))) return true;
  }
  return false;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
