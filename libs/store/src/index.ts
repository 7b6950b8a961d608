export { asFault, violates } from "./availability.ts";
export {
  checkMigrations,
  type Migration,
  type MigrationTarget,
  migrateUp,
  readMigrations,
  SchemaError,
} from "./migrations.ts";
export { auditRow, outboxRow, type PublishOutbox, startOutboxRelay } from "./outbox.ts";
export { claimRequest } from "./repeat/claim.ts";
export { createRepeats, type Repeats, type RequestRun } from "./repeat/repeats.ts";
export { type Db, type OutboxTable, openStore, type Store, type Trx } from "./store.ts";
