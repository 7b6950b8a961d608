// What is in a bundle (docs/reference/database-backups.md#format). It is the first member, so that a reader knows what must follow.

import { z } from "zod";
import { labels } from "./name.ts";

export const manifestMember = "MANIFEST.json";
export const serversMember = "k8s/minecraftservers.json";
export const formatVersion = 1;

const count = z.number().int().min(0);
const sqlName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/);

const Table = z.strictObject({
  name: sqlName,
  member: z.string(),
  /** In the order of the rows' fields; generated columns are missing. */
  columns: z.array(sqlName),
  rows: count,
});
export type TableEntry = z.output<typeof Table>;

const Schema = z.strictObject({
  name: sqlName,
  migrations: z.array(z.strictObject({ version: count, name: z.string() })),
  tables: z.array(Table),
  /** Last value of each sequence, a decimal number; null when it was never used. */
  sequences: z.array(
    z.strictObject({
      name: sqlName,
      last: z
        .string()
        .regex(/^\d{1,19}$/)
        .nullable(),
    }),
  ),
});
export type SchemaEntry = z.output<typeof Schema>;

const Member = z.strictObject({
  name: z.string(),
  size: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type MemberEntry = z.output<typeof Member>;

export const Manifest = z.strictObject({
  format: z.literal(formatVersion),
  name: z.string(),
  label: z.enum(labels),
  taken_at: z.iso.datetime(),
  /** Version of svc. */
  version: z.string(),
  /** Migrations of all schemas together. */
  schema_version: count,
  postgresql: z.string(),
  /** Version of pg_dump when `db.dump` is there. */
  pg_dump: z.string().optional(),
  counts: z.strictObject({ accounts: count, servers: count, rows: count }),
  /** Server objects in the bundle; absent when they could not be read. */
  server_objects: count.optional(),
  servers_error: z.string().optional(),
  /** The time whose state it holds, where that is not the time at which it was taken. */
  recovered_to: z.iso.datetime().optional(),
  schemas: z.array(Schema),
  members: z.array(Member),
});
export type Manifest = z.output<typeof Manifest>;
