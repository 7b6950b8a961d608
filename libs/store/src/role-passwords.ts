import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Passwords of the services' roles, by service: a JSON file, or a folder with a file for each, as Kubernetes mounts a Secret.
 * Throws what the file system or the JSON parser throws.
 */
export function readRolePasswords(path: string): Record<string, string> {
  if (!statSync(path).isDirectory()) return JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
  const files = readdirSync(path).filter((name) => !name.startsWith("."));
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(path, name), "utf8").trim()]));
}
