// A backup leaves the cluster: it is downloaded, kept elsewhere, handed to whoever owns the server next. What the proxy
// signs with stays behind; the pod writes it anew before every start.

import { randomBytes } from "node:crypto";

/** Larger ones are none that the platform wrote; the pod sets them aside. */
export const mostForwardingBytes = 1 << 20;

const value = /("(?:[^"\\\r\n]|\\.)*"?|'[^'\r\n]*'?|[^,}\r\n]*)/.source;
const keyed = new RegExp(`((?:^|[\\s{,])(?:secret|"secret"|'secret')[ \\t]*:[ \\t]*)${value}`, "gm");
const token = /[\w-]{40,}/g;

/**
 * The text of `paper-global.yml` with another secret, which nobody knows, in place of the proxy's: an empty one would
 * have the server take players from anywhere. Everything else stays, byte for byte.
 */
export function scrubForwarding(text: string): string {
  const unknown = randomBytes(16).toString("hex");
  return text.replace(keyed, `$1${unknown}`).replace(token, unknown);
}
