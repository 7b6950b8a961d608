import { resolve } from "node:path";
import { owners } from "@svc/proto";
import { type Migration, readMigrations } from "@svc/store";

const services = resolve(import.meta.dirname, "../../..");

/** Every schema of the database with the migrations of this build; `service` is its owner. */
export function schemas(): { service: string; name: string; migrations: Migration[] }[] {
  return owners.map((service) => ({
    service,
    name: service.replaceAll("-", "_"),
    migrations: readMigrations(resolve(services, service, "migrations")),
  }));
}
