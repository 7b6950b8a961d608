// A token bucket in PostgreSQL, shared by all replicas: one atomic statement takes a token.

import { type QueryExecutorProvider, sql } from "kysely";

export type Bucket = {
  /** Has `key` (text, its primary key), `tokens` (double precision) and `refilled_at` (timestamptz). */
  table: string;
  key: string;
  burst: number;
  perSecond: number;
  now: Date;
};

export type Taken = { allowed: true } | { allowed: false; retryAfterSeconds: number };

/**
 * The row is written only when a token is taken, so a flood of refusals costs reads. Clocks of replicas may differ: time
 * that seems to run backwards refills nothing.
 */
export async function takeToken(db: QueryExecutorProvider, bucket: Bucket): Promise<Taken> {
  const { key, burst, perSecond, now } = bucket;
  const table = sql.table(bucket.table);
  const refilled = refilledOf(bucket);
  const taken = await sql`
    insert into ${table} as b (key, tokens, refilled_at)
    values (${key}, ${burst}::float8 - 1, ${now}::timestamptz)
    on conflict (key) do update
      set tokens = ${refilled} - 1, refilled_at = greatest(b.refilled_at, excluded.refilled_at)
      where ${refilled} >= 1
    returning true`.execute(db);
  if (taken.rows.length > 0) return { allowed: true };
  // A statement of its own: within the first one the row would be seen as it was before parallel takers.
  const missing = 1 - ((await readTokens(db, bucket)) ?? 0);
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(missing / perSecond)) };
}

/** Whole tokens that could be taken now. */
export async function countTokens(db: QueryExecutorProvider, bucket: Bucket): Promise<number> {
  return Math.floor((await readTokens(db, bucket)) ?? bucket.burst);
}

async function readTokens(db: QueryExecutorProvider, bucket: Bucket): Promise<number | undefined> {
  const { rows } = await sql<{ tokens: number }>`
    select ${refilledOf(bucket)} as tokens from ${sql.table(bucket.table)} as b where b.key = ${bucket.key}`.execute(
    db,
  );
  return rows[0]?.tokens;
}

function refilledOf({ burst, perSecond, now }: Bucket) {
  return sql<number>`least(${burst}::float8, b.tokens +
    greatest(extract(epoch from ${now}::timestamptz - b.refilled_at), 0)::float8 * ${perSecond}::float8)`;
}
