// Why no answer came, in words for people who do not administer the receiver (docs/reference/webhooks.md#failures). Pure.

const untrusted =
  "no authority that svc trusts vouches for its certificate, or an intermediate one is missing";

const ofCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it closed the connection",
  EHOSTUNREACH: "it cannot be reached",
  ENETUNREACH: "it cannot be reached",
  ETIMEDOUT: "it did not answer in time",
  ENOTFOUND: "its name has no address",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** What OpenSSL says, which has the code EPROTO or one for each alert, depending on when it was noticed. */
const ofTls: readonly [said: RegExp, words: string][] = [
  [/alert protocol version|unsupported protocol/, "it speaks no TLS of version 1.2 or later"],
  [/certificate required/, "it asks for a certificate of the sender, which svc does not have"],
  [/wrong version number|packet length too long|record layer failure/, "it does not speak TLS on that port"],
  [/alert|no shared cipher|no protocols available/, "it refused the TLS handshake"],
  [/before secure TLS connection/, "it closed the connection before TLS was established"],
];

/** Without addresses of machines. */
export function wordsOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const { code = "", message } = (first ?? error) as NodeJS.ErrnoException;
  if (code === "") return message.slice(0, 300);
  const tls = /^(EPROTO|ECONNRESET|ERR_SSL_.*)$/.test(code) && ofTls.find(([said]) => said.test(message));
  if (tls) return tls[1];
  if (/CERT|UNABLE_TO_/.test(code)) return ofCode[code] ?? `its certificate is not valid (${code})`;
  return ofCode[code] ?? `the connection failed (${code})`;
}
