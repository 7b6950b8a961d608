import { join } from "node:path";
import { findStackFile, serviceNames } from "@svc/local-stack";

/** Ends the services of a local stack on this database; its supervisor starts them again. Returns how many. */
export function restartServices(data: string, databaseUrl: string | undefined): number {
  const stack = findStackFile(join(data, "stack.json"));
  if (!stack || stack.database_url !== databaseUrl) return 0;
  const names: readonly string[] = serviceNames;
  const services = stack.processes.filter(({ name }) => names.includes(name.replace(/-\d+$/, "")));
  let ended = 0;
  for (const { pid } of services) {
    try {
      process.kill(pid, "SIGTERM");
      ended += 1;
    } catch {
      // It is being started again already.
    }
  }
  return ended;
}
