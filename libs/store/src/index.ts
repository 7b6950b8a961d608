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
export { type Db, type OutboxTable, openStore, type Store, type Trx } from "./store.ts";
