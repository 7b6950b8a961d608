// Where the parts of an installation reach each other.

import { choose, type Expression, text } from "../template/expression.ts";
import type { V } from "./common.ts";

function hostOf(v: V, service: string): Expression {
  return text`${service}.${v.namespaces.control}.svc.cluster.local`;
}

/** The internal face, as Jobs and the game side reach it. */
export function internalUrl(v: V): Expression {
  return text`http://${hostOf(v, "gateway-internal")}:8081`;
}

/** The external face, as SFTP reaches it. */
export function externalUrl(v: V): Expression {
  return text`http://${hostOf(v, "gateway-external")}:8080`;
}

/** NATS, for a user whose password the connection gets elsewhere. */
export function natsUrl(v: V): Expression {
  return text`${natsScheme(v)}://${natsHost(v)}:${v.nats.port}`;
}

/** NATS with user and password in the address; `variable` holds the password. */
export function natsUrlOf(v: V, user: string, variable: string): Expression {
  return text`${natsScheme(v)}://${user}:$(${variable})@${natsHost(v)}:${v.nats.port}`;
}

/** PostgreSQL as one role; `variable` holds the password. */
export function databaseUrl(v: V, role: string | Expression, variable: string): Expression {
  const host = choose(v.postgres.enabled, hostOf(v, "postgres"), v.postgres.host);
  const { port, database, options } = v.postgres;
  return text`postgres://${role}:$(${variable})@${host}:${port}/${database}${options}`;
}

/** host:port of the platform's registry; empty when there is none. */
export function registryUrl(v: V): Expression {
  return choose(v.registry.enabled, text`${hostOf(v, "registry")}:5000`, v.registry.url);
}

function natsScheme(v: V): Expression {
  return choose(v.nats.enabled, "nats", v.nats.scheme);
}

function natsHost(v: V): Expression {
  return choose(v.nats.enabled, hostOf(v, "nats"), v.nats.host);
}
