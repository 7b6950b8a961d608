import { DatabaseSync } from "node:sqlite";
import { ApiStatus } from "../api-status.ts";

/** A row of the change log. */
export type ChangeRow = { version: number; resource: string; key: string; type: Change; data: Uint8Array };
/** A row of the objects table. */
type ObjectRow = { resource: string; key: string; version: number; data: Uint8Array };
type Change = "ADDED" | "MODIFIED" | "DELETED";

/** The file under the store. Every write is committed when the call returns. */
export type Database = {
  objects(): ObjectRow[];
  changes(): ChangeRow[];
  settings(): Map<string, string>;
  write(row: ChangeRow): void;
  setSetting(name: string, value: string): void;
  /** Deletes changes of a resource up to a version and records that they are gone. */
  forget(resource: string, version: number): void;
  /** Removes whatever is stored for a resource; its kind is gone. */
  drop(resource: string): void;
  close(): void;
};

const layout = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 2000;
  CREATE TABLE IF NOT EXISTS objects (
    resource TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (resource, key));
  CREATE TABLE IF NOT EXISTS changes (
    version INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, type TEXT NOT NULL, data BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS changes_by_resource ON changes (resource, version);
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
`;

/** Opens or creates the file. A full disk gives a 500 with that message. */
export function openDatabase(file: string): Database {
  const db = new DatabaseSync(file);
  db.exec(layout);
  const sql = prepare(db);
  const atomically = (work: () => void) => {
    try {
      sql.begin.run();
      work();
      sql.commit.run();
    } catch (error) {
      rollBack(db);
      throw storageFault(error);
    }
  };
  const remember = (name: string, value: string) => sql.setSetting.run(name, value);
  return {
    objects: () => sql.allObjects.all() as ObjectRow[],
    changes: () => sql.allChanges.all() as ChangeRow[],
    settings: () => new Map(sql.allSettings.all().map((row) => [String(row["name"]), String(row["value"])])),
    write: ({ version, resource, key, type, data }) =>
      atomically(() => {
        if (type === "DELETED") sql.deleteObject.run(resource, key);
        else sql.putObject.run(resource, key, version, data);
        sql.addChange.run(version, resource, key, type, data);
      }),
    setSetting: (name, value) => atomically(() => remember(name, value)),
    forget: (resource, version) =>
      atomically(() => {
        sql.forget.run(resource, version);
        remember(`horizon:${resource}`, String(version));
      }),
    drop: (resource) =>
      atomically(() => {
        sql.dropObjects.run(resource);
        sql.dropChanges.run(resource);
        sql.dropSetting.run(`horizon:${resource}`);
      }),
    close: () => db.close(),
  };
}

function prepare(db: DatabaseSync) {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    allObjects: db.prepare("SELECT resource, key, version, data FROM objects ORDER BY resource, key"),
    allChanges: db.prepare("SELECT version, resource, key, type, data FROM changes ORDER BY version"),
    allSettings: db.prepare("SELECT name, value FROM settings"),
    putObject: db.prepare(
      "INSERT INTO objects (resource, key, version, data) VALUES (?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET version = excluded.version, data = excluded.data",
    ),
    deleteObject: db.prepare("DELETE FROM objects WHERE resource = ? AND key = ?"),
    addChange: db.prepare("INSERT INTO changes (version, resource, key, type, data) VALUES (?, ?, ?, ?, ?)"),
    forget: db.prepare("DELETE FROM changes WHERE resource = ? AND version <= ?"),
    dropObjects: db.prepare("DELETE FROM objects WHERE resource = ?"),
    dropChanges: db.prepare("DELETE FROM changes WHERE resource = ?"),
    setSetting: db.prepare("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"),
    dropSetting: db.prepare("DELETE FROM settings WHERE name = ?"),
  };
}

function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec("ROLLBACK");
}

function storageFault(error: unknown): ApiStatus {
  const text = error instanceof Error ? error.message : String(error);
  const message = `the cluster's data file could not be written (${text}); check the disk's free space and rights`;
  return new ApiStatus(500, "InternalError", { message });
}
