export { asFault, violates } from "./availability.ts";
export { measureStore } from "./metrics.ts";
export { buildSchema, checkMigrations, type Migration, migrateUp, readMigrations } from "./migrations.ts";
export { listenForNotifications, type Notifications } from "./notifications.ts";
export { auditRow, type NewAuditEntry, outboxRow, startOutboxRelay } from "./outbox.ts";
export { claimRequest } from "./repeat/claim.ts";
export { createRepeats } from "./repeat/repeats.ts";
export { type Db, type OutboxTable, openStore, type Store, type Trx } from "./store.ts";
export { type Bucket, countTokens, type Taken, takeToken } from "./token-bucket.ts";
