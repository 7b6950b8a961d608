// The address that a request comes from, for the sign-in budget and the audit (docs/reference/http.md#client-address).

import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";

/**
 * Address of the client: from `headerName` when it is set and holds an address, else the TCP peer. Of
 * `x-forwarded-for` the rightmost entry counts, the one that our own edge wrote.
 */
export function clientAddressOf(request: IncomingMessage, headerName: string): string {
  const peer = normalAddress(request.socket.remoteAddress ?? "") ?? "";
  if (headerName === "") return peer;
  const value = request.headers[headerName];
  const text = Array.isArray(value) ? value.join(",") : (value ?? "");
  const claimed =
    headerName === "x-forwarded-for" ? withoutPort(text.slice(text.lastIndexOf(",") + 1)) : text;
  return normalAddress(claimed.trim()) ?? peer;
}

// Some edges append the port of the client: 192.0.2.1:4711 or [2001:db8::1]:4711.
function withoutPort(entry: string): string {
  const text = entry.trim();
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

/** IPv4-mapped IPv6 becomes IPv4, IPv6 loses its zone; undefined when it is not an address. */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (isIP(text) === 0) return undefined;
  const address = (text.split("%")[0] ?? "").toLowerCase();
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return address;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const left = wordsOf(head);
  if (tail === undefined) return left;
  const right = wordsOf(tail);
  return [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right];
}

function wordsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((word) => {
    if (!word.includes(".")) return [Number.parseInt(word, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = word.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
