// The Secrets that a new installation needs. They are created, never applied: what exists is never replaced.

import { randomBytes } from "node:crypto";
import { callerTokens, natsUsers, owners } from "@svc/proto";
import { routeUser } from "./objects/nats.ts";
import type { Values } from "./values/schema.ts";

// Fits into URLs and configuration files as it is.
const password = () => randomBytes(24).toString("base64url");
const passwords = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, password()]));

/** One Secret for each name in the values, and the token of the login gate in the game namespace. */
export function firstSecrets({ namespaces, secrets, nats, registry, sftp }: Values) {
  const tokens: Record<string, string> = passwords(callerTokens);
  const inControl: [name: string, content: Record<string, string>][] = [
    [secrets.nats, passwords(nats.enabled ? [...natsUsers, routeUser] : natsUsers)],
    [secrets.database, passwords(["admin", ...owners])],
    [secrets.tokens, tokens],
    [secrets.forwarding, { masters: randomBytes(32).toString("base64") }],
    ...(sftp.enabled ? [[secrets.sftp, { host_key: password() }] as [string, Record<string, string>]] : []),
    ...(registry.enabled ? [[secrets.registry, registrySecret()] as [string, Record<string, string>]] : []),
  ];
  return [
    ...inControl.map(([name, content]) => secretOf(namespaces.control, name, content)),
    secretOf(namespaces.game, "limbo-token", { token: tokens["limbo"] ?? "" }),
  ];
}

/** As docs/reference/registry.md#gate says, and the same passwords for those who use them. */
function registrySecret(): Record<string, string> {
  const of = passwords(["platform", "build", "prune"]);
  const lines = Object.entries(of).map(([name, value]) => `${name}:${value}\n`);
  return {
    credentials: lines.join(""),
    http_secret: password(),
    push: `build:${of["build"]}`,
    prune: `prune:${of["prune"]}`,
  };
}

function secretOf(namespace: string, name: string, stringData: Record<string, string>) {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, type: "Opaque", stringData };
}
