// Runs Trivy with the given arguments, fetching it first where it is missing: main.ts HOME CACHE ARGUMENT…
// A step of a build calls it, so a stack that never builds downloads nothing. npm needs the HOME with its settings.
import { spawn } from "node:child_process";
import { errorText } from "../error.ts";
import { ensureTrivy } from "./find.ts";

const [home = "", cache = "", ...args] = process.argv.slice(2);

try {
  const progress = (line: string) => console.error(line);
  const env = { ...process.env, HOME: home };
  const child = spawn(await ensureTrivy({ env, cacheDirs: [cache], progress }), args, { stdio: "inherit" });
  process.once("SIGTERM", () => child.kill("SIGTERM"));
  child.once("error", fail);
  child.once("exit", (code) => {
    process.exitCode = code ?? 1;
  });
} catch (error) {
  fail(error);
}

function fail(error: unknown): void {
  console.error(errorText(error));
  process.exitCode = 1;
}
