// The configuration text of nats-server with one user per service (docs/reference/mesh.md#trust).

import { gateways, owners, type ServiceName } from "../caller.ts";
import { contracts } from "../catalog.ts";
import type { Bucket } from "../contract.ts";
import { type Permissions, permissionsOf } from "./permissions.ts";
import { inboxPrefix, instanceSubject, replicaSubject, rpcSubject } from "./subjects.ts";

export const services: readonly ServiceName[] = [...gateways, ...owners];
/** The user of `svc migrate up`: the only one that makes, changes or removes streams and consumers. */
export const migrateUser = "migrate";
/**
 * Users of the mesh: each service, `operator` for the CLI, which may watch everything and make the requests that name
 * it as a caller, and the one that makes streams.
 */
export const natsUsers: readonly string[] = [...services, "operator", migrateUser];

const called = contracts.filter(({ callers }) => callers.includes("operator"));
const operator: Permissions = {
  publish: [
    "$SRV.>",
    ...["INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "STREAM.MSG.GET.*", "DIRECT.GET.>"].map(api),
    ...["CONSUMER.NAMES.*", "CONSUMER.LIST.*", "CONSUMER.INFO.>"].map(api),
    ...called.flatMap((contract) => [rpcSubject(contract), instanceSubject(contract, "*")]),
  ],
  subscribe: [
    "svc.evt.>",
    "svc.audit.>",
    "svc.dead.>",
    "$SRV.>",
    `${inboxPrefix("operator")}.>`,
    ...new Set(called.map(({ owner }) => replicaSubject(owner, "*"))),
  ],
};

const migrate: Permissions = { publish: [api(">")], subscribe: [`${inboxPrefix(migrateUser)}.>`] };

function api(verb: string): string {
  return `$JS.API.${verb}`;
}

function permissionsOfUser(user: string, moreBuckets: readonly Bucket[]): Permissions {
  if (user === "operator") return operator;
  if (user === migrateUser) return migrate;
  return permissionsOf(user as ServiceName, moreBuckets);
}

/** A password, or the variable of the server's environment or configuration that holds it. */
type Password = string | { readonly variable: string };

/**
 * Text of an `authorization` block for nats-server. `passwords` has an entry for every one of `natsUsers`;
 * a missing one throws, so that no user is ever left without a password. `moreBuckets` are for tests.
 */
export function natsAuthorization(
  passwords: Readonly<Record<string, Password>>,
  moreBuckets: readonly Bucket[] = [],
): string {
  const users = natsUsers.map((user) => {
    const password = passwords[user];
    if (!password) throw new Error(`no NATS password for ${user}`);
    const { publish, subscribe } = permissionsOfUser(user, moreBuckets);
    const value = typeof password === "string" ? quote(password) : `$${password.variable}`;
    return `    { user: ${quote(user)}, password: ${value}, permissions: {
      publish: { allow: ${listOf(publish)} },
      subscribe: { allow: ${listOf(subscribe)} } } }`;
  });
  return `authorization {\n  users = [\n${users.join(",\n")}\n  ]\n}\n`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function listOf(subjects: readonly string[]): string {
  return `[${subjects.map(quote).join(", ")}]`;
}
