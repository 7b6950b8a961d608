// A backup may leave the cluster: it can be downloaded, stored elsewhere, or passed to the next owner of the server. The
// proxy's signing secret must not; the pod writes it again before every start.

import { randomBytes } from "node:crypto";

/** The platform writes no larger one; the pod replaces it. */
export const mostForwardingBytes = 1 << 20;

const value = /("(?:[^"\\\r\n]|\\.)*"?|'[^'\r\n]*'?|[^,}\r\n]*)/.source;
const keyed = new RegExp(`((?:^|[\\s{,])(?:secret|"secret"|'secret')[ \\t]*:[ \\t]*)${value}`, "gm");
const token = /[\w-]{40,}/g;

/**
 * The text of `paper-global.yml` with the secret of the proxy replaced by a random one: with an empty secret the server
 * would accept players from anywhere. Every other byte is kept.
 */
export function scrubForwarding(text: string): string {
  const unknown = randomBytes(16).toString("hex");
  return text.replace(keyed, `$1${unknown}`).replace(token, unknown);
}
