import { createHash } from "node:crypto";
import { type Logger, noTracing, type Tracing } from "@svc/telemetry";
import {
  Kysely,
  type LogEvent,
  PostgresDialect,
  type PostgresPoolClient,
  sql,
  type Transaction,
} from "kysely";
import pg from "pg";
import { asFault, isGone, readOnly } from "./availability.ts";
import { withClaims } from "./repeat/claim.ts";
import { WritableClient } from "./writable-client.ts";

/** Every schema has an outbox beside the tables of its service. */
export type OutboxTable = { outbox: { subject: string; body: string } };
export type Db<T> = Kysely<T & OutboxTable>;
/** A running transaction. A function that needs a lock or an atomic step takes this, not `Db`. */
export type Trx<T> = Transaction<T & OutboxTable>;

type PooledClient = WritableClient & { release: (destroy?: boolean) => void };

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
/** A server that is gone without a word does not end a statement, so we do, later than it would. */
const answerWithinMs = 20_000;

/**
 * Opens a pool on one schema. Statements time out after 15 s and idle transactions after 60 s (docs/reference/data.md#database);
 * `poolSize` is at most 25. Connection problems surface as the fault `unavailable`, and so does a server that takes no
 * changes: its connections are closed, for the address may lead to another one by now.
 */
export function openStore<T>(options: {
  url: string;
  schema: string;
  poolSize: number;
  log: Logger;
  tracing?: Tracing;
}): Store<T> {
  const pool = new pg.Pool({
    Client: WritableClient,
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: 3_000,
    // Above the pause of what runs once a minute, which would open its connections anew each time.
    idleTimeoutMillis: 65_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
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
      connect: () => connectWritable(pool).then(prepared, rethrow),
      end: () => pool.end(),
      options: pool.options,
    },
  });
  const { tracing = noTracing } = options;
  const db = new Kysely<T & OutboxTable>({
    dialect,
    ...(tracing.isOn && { log: (event) => recordStatement(tracing, options.schema, event) }),
  });
  return {
    db,
    url: options.url,
    schema: options.schema,
    connections: () => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
      return { busy: totalCount - idle, idle, waiting };
    },
    ping: () => sql`select 1`.execute(db).then(() => undefined),
    close: () => db.destroy(),
  };
}

/** Without its parameters, which may be secrets. */
function recordStatement(tracing: Tracing, schema: string, event: LogEvent): void {
  const text = event.query.sql;
  const operation = text.slice(0, text.search(/\s|$/)).toUpperCase();
  tracing.record(`${operation} ${schema}`, {
    ms: event.queryDurationMillis,
    attributes: {
      "db.system.name": "postgresql",
      "db.namespace": schema,
      "db.query.text": text.slice(0, 2_000),
    },
    ...(event.level === "error" && { error: event.error }),
  });
}

/** Closes connections to a server that takes no changes, those that wait in the pool too. Throws when a new one leads there. */
async function connectWritable(pool: pg.Pool): Promise<PooledClient> {
  for (let tried = 0; tried <= pool.options.max; tried += 1) {
    const isKept = pool.idleCount > 0;
    // The pool makes its connections of the class that it was given.
    const client = (await pool.connect()) as unknown as PooledClient;
    if (client.isUsable) return client;
    client.release(true);
    if (!isKept) break;
  }
  throw readOnly();
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

function prepared(client: PooledClient): PostgresPoolClient {
  const named = (text: string, values?: unknown[]) => {
    const name = nameOf(text);
    const config = { text, values: values ?? [] };
    return client.query(name === undefined ? config : { ...config, name }).catch((error: unknown) => {
      if (isGone(error)) client.markBroken();
      rethrow(error);
    });
  };
  const claimed = withClaims(named);
  const query = (text: unknown, values?: unknown[]): unknown =>
    typeof text === "string" ? claimed(text, values) : client.query(text as never);
  return {
    query,
    release: (destroy?: boolean) => client.release(destroy || !client.isUsable),
  } as PostgresPoolClient;
}
