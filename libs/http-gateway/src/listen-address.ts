// The address on which a face listens.

import { ConfigError } from "@svc/config";

export type ListenAddress = { host: string; port: number };

/** Splits `host:port`; an IPv6 host stands in brackets. Throws `ConfigError`. */
export function parseListen(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || port === undefined || Number(port) > 65_535) {
    throw new ConfigError(`the listen address ${JSON.stringify(text)} is not valid; write it as host:port`);
  }
  return { host, port: Number(port) };
}
