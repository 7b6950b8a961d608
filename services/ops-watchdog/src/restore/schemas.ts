// What each service says about its schema: migrations, what ends with a restore, and what must hold after one.

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { owners } from "@svc/proto";
import { type Migration, readMigrations } from "@svc/store";
import type { Manifest } from "../bundle/manifest.ts";

const services = resolve(import.meta.dirname, "../../..");

export type OwnedSchema = {
  service: string;
  name: string;
  migrations: Migration[];
  /** Ends sessions, codes and tickets; empty when the service has none. */
  afterRestore: string;
  /** Queries that find nothing in a sound database, by what they prove. */
  invariants: { fact: string; sql: string }[];
};

/** Every schema with the files of this build. */
export function ownedSchemas(): OwnedSchema[] {
  return owners.map((service) => {
    const read = (name: string) => {
      const path = resolve(services, service, "restore", name);
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    return {
      service,
      name: service.replaceAll("-", "_"),
      migrations: readMigrations(resolve(services, service, "migrations")),
      afterRestore: read("after.sql"),
      invariants: parseInvariants(read("invariants.sql")),
    };
  });
}

/** A line `-- fact: …` begins each query. */
function parseInvariants(text: string): OwnedSchema["invariants"] {
  return text
    .split(/^-- fact: /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { fact: part.slice(0, end).trim(), sql: part.slice(end).trim() };
    });
}

/** Why this build cannot restore a bundle; undefined when it can. */
export function problemOfVersions(manifest: Manifest, schemas: readonly OwnedSchema[]): string | undefined {
  for (const { name, migrations } of manifest.schemas) {
    const own = schemas.find((schema) => schema.name === name);
    if (!own)
      return `schema is newer: this build does not know the schema ${name}; install the newer release`;
    if (migrations.length > own.migrations.length)
      return `schema is newer: ${name} is at migration ${migrations.length}, this build knows ${own.migrations.length}; install the newer release`;
    const other = migrations.find(({ name: step }, index) => own.migrations[index]?.name !== step);
    if (other) return `the migration ${other.name} of ${name} is not one of this build`;
  }
  return undefined;
}
