// Why no answer came, for people who do not administer the receiver (docs/reference/webhooks.md#failures). Pure.

import type { webhooks } from "@svc/proto";

export type Failure = { failure: webhooks.DeliveryFailure; error: string };

const words = {
  no_address: "its name has no address",
  private_address: "its name leads to a private address",
  refused: "it refuses connections",
  unreachable: "it cannot be reached",
  timeout: "it did not answer in time",
  closed: "it closed the connection",
  certificate_expired: "its certificate has expired",
  certificate_not_yet_valid: "its certificate is not valid yet",
  certificate_name: "its certificate is for another name",
  certificate_self_signed: "its certificate is signed by itself",
  certificate_untrusted:
    "no authority that svc trusts vouches for its certificate, or an intermediate one is missing",
  tls_version: "it speaks no TLS of version 1.2 or later",
  tls_port: "it does not speak TLS on that port",
  tls_closed: "it closed the connection before TLS was established",
  tls_client_certificate: "it asks for a certificate of the sender, which svc does not have",
  tls_refused: "it refused the TLS handshake",
} as const satisfies Partial<Record<webhooks.DeliveryFailure, string>>;
type Known = keyof typeof words;

const ofCode: Readonly<Record<string, Known>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "closed",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ETIMEDOUT: "timeout",
  ENOTFOUND: "no_address",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate_self_signed",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate_untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificate_untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate_untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate_untrusted",
  CERT_HAS_EXPIRED: "certificate_expired",
  CERT_NOT_YET_VALID: "certificate_not_yet_valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate_name",
};

/** What OpenSSL says, which has the code EPROTO or one for each alert, depending on when it was noticed. */
const ofTls: readonly [said: RegExp, failure: Known][] = [
  [/alert protocol version|unsupported protocol/, "tls_version"],
  [/certificate required/, "tls_client_certificate"],
  [/wrong version number|packet length too long|record layer failure/, "tls_port"],
  [/alert|no shared cipher|no protocols available/, "tls_refused"],
  [/before secure TLS connection/, "tls_closed"],
];

/** Ends an attempt before anything is sent. */
export class UnsentError extends Error {
  override name = "UnsentError";
  readonly failure: webhooks.DeliveryFailure;
  constructor(failure: "bad_url" | "no_address" | "private_address", message: string) {
    super(message);
    this.failure = failure;
  }
}

export function failureOfCode(failure: Known): Failure {
  return { failure, error: words[failure] };
}

/** Without addresses of machines. */
export function failureOf(error: Error): Failure {
  if (error instanceof UnsentError) return { failure: error.failure, error: error.message };
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const { code = "", message } = (first ?? error) as NodeJS.ErrnoException;
  if (code === "") return { failure: "connection", error: message.slice(0, 300) };
  const isTls = /^(EPROTO|ECONNRESET|ERR_SSL_.*)$/.test(code);
  const found = (isTls && ofTls.find(([said]) => said.test(message))?.[1]) || ofCode[code];
  if (found) return failureOfCode(found);
  return /CERT|UNABLE_TO_/.test(code)
    ? { failure: "certificate_invalid", error: `its certificate is not valid (${code})` }
    : { failure: "connection", error: `the connection failed (${code})` };
}
