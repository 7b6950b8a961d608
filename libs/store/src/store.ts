import { createHash } from "node:crypto";
import type { Logger } from "@svc/telemetry";
import { Kysely, PostgresDialect, type PostgresPoolClient, type Transaction } from "kysely";
import pg from "pg";
import { asFault } from "./availability.ts";
import { withClaims } from "./repeat/claim.ts";

/** Every schema has an outbox beside the tables of its service. */
export type OutboxTable = { outbox: { subject: string; body: string } };
export type Db<T> = Kysely<T & OutboxTable>;
/** A running transaction. A function that needs a lock or an atomic step takes this, not `Db`. */
export type Trx<T> = Transaction<T & OutboxTable>;

export type Store<T> = {
  db: Db<T>;
  /** Connection settings of this store, for the outbox relay and LISTEN. */
  url: string;
  schema: string;
  /** Connections of the pool, and statements that wait for one. */
  connections: () => { busy: number; idle: number; waiting: number };
  /** Resolves when the database answers; rejects with the fault `unavailable`. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
};

/** PostgreSQL numbers beyond 2^53 never occur in our ids and sizes, so bigint columns are numbers. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const statementTimeoutMs = 15_000;
const idleInTransactionMs = 60_000;

/**
 * Opens a pool on one schema. Statements time out after 15 s and idle transactions after 60 s (docs/reference/data.md#database);
 * `poolSize` is at most 25. Connection problems surface as the fault `unavailable`.
 */
export function openStore<T>(options: {
  url: string;
  schema: string;
  poolSize: number;
  log: Logger;
}): Store<T> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    application_name: `svc-${options.schema}`,
    options: `-c search_path=${options.schema}`,
  });
  pool.on("error", (error) => options.log.warn({ error: error.message }, "idle database connection lost"));
  // The pool watches a connection only while it is idle. One that ends in the middle of a transaction would otherwise be
  // an unhandled error that ends the process; the next statement on it fails, which is enough.
  pool.on("connect", (client) =>
    client.on("error", (error) => options.log.debug({ error: error.message }, "database connection lost")),
  );
  const dialect = new PostgresDialect({
    pool: {
      connect: () => pool.connect().then(prepared, rethrow),
      end: () => pool.end(),
      options: pool.options,
    },
  });
  const db = new Kysely<T & OutboxTable>({ dialect });
  return {
    db,
    url: options.url,
    schema: options.schema,
    connections: () => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
      return { busy: totalCount - idle, idle, waiting };
    },
    ping: () => pool.query("select 1").then(() => undefined, rethrow),
    close: () => db.destroy(),
  };
}

function rethrow(error: unknown): never {
  throw asFault(error);
}

const statementNames = new Map<string, string>();
const namedAtMost = 500;

// Named statements halve the cost of point reads (docs/performance.md); the names are bounded because a
// connection keeps every one it has seen.
function nameOf(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= namedAtMost || text.length < 20) return undefined;
  const name = createHash("sha1").update(text).digest("base64url");
  statementNames.set(text, name);
  return name;
}

function prepared(client: pg.PoolClient): PostgresPoolClient {
  const named = (text: string, values?: unknown[]) => {
    const name = nameOf(text);
    const config = { text, values: values ?? [] };
    return client.query(name === undefined ? config : { ...config, name }).catch(rethrow);
  };
  const claimed = withClaims(named);
  const query = (text: unknown, values?: unknown[]): unknown =>
    typeof text === "string" ? claimed(text, values) : client.query(text as never);
  return { query, release: (destroy?: boolean) => client.release(destroy) } as PostgresPoolClient;
}
