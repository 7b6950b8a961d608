// The host that a request names distinguishes the operator console from the panel (docs/reference/http.md#tiers).

import type { IncomingMessage } from "node:http";
import type { FaceHost } from "@svc/proto";

const shape = /^([A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/;

/** Host header as sent, or undefined when it is missing, sent twice or malformed. */
export function hostOf(request: IncomingMessage): string | undefined {
  const host = request.headers.host;
  if (host === undefined || !shape.test(host)) return undefined;
  let count = 0;
  const raw = request.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count === 1 ? host : undefined;
}

/** Lower case without port, brackets and trailing dot: `Op.Console.Example.:443` is `op.console.example`. */
export function normalHost(host: string): string {
  const [, name = ""] = shape.exec(host) ?? [];
  return name
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

/** The host of the face that a request names. */
export function faceHostOf(host: string, adminHostname: string): FaceHost {
  return isAdminHost(host, adminHostname) ? "operator" : "player";
}

/** Whether a request host is the operator console; a bare IP counts only when the setting names it. */
export function isAdminHost(host: string, adminHostname: string): boolean {
  return adminHostname !== "" && normalHost(host) === normalHost(adminHostname);
}
