import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StackPrograms } from "../program/programs.ts";
import type { ProgramName } from "../program/sources.ts";

const serviceSource = `
console.log(JSON.stringify({ level: "info", service: process.argv[1], health_port: 9, msg: "ready" }));
process.on("SIGTERM", () => process.exit(0));
setInterval(() => undefined, 60_000);
`;

const identitySource = `
import { writeFileSync } from "node:fs";
setTimeout(() => writeFileSync(process.env.SVC_SETUP_URL_FILE, "http://setup.example/once\\n"), 50);
${serviceSource}`;

const clusterSource = `
import { writeFileSync } from "node:fs";
const at = (name) => process.argv[process.argv.indexOf(name) + 1];
writeFileSync(at("--data") + "/kubeconfig", "");
console.log("local-cluster: ready at https://127.0.0.1:" + at("--port"));
process.on("SIGTERM", () => process.exit(0));
setInterval(() => undefined, 60_000);
`;

const panelSource = `
const { SVC_TEST_PANEL_FAULT: fault } = process.env;
if (fault) console.error(fault);
process.exit(fault ? 1 : 0);
`;

/** Programs that behave at their edges as the real ones do: ready lines, signals, the file with the setup link. */
export function writeFakePrograms(dir: string): StackPrograms {
  mkdirSync(dir, { recursive: true });
  const write = (name: string, source: string) => {
    const path = join(dir, `${name}.mjs`);
    writeFileSync(path, source);
    return path;
  };
  const service = write("service", serviceSource);
  const fakes: Partial<Record<ProgramName, string>> = {
    identity: write("identity", identitySource),
    svc: write("migrate", "process.exit(process.env.SVC_ADMIN_DATABASE_URL ? 0 : 1);"),
    "local-cluster": write("cluster", clusterSource),
    panel: write("panel", panelSource),
    "mail-sink": join(import.meta.dirname, "..", "mail", "main.ts"),
    "collect-when-idle": join(import.meta.dirname, "..", "process", "collect-when-idle.ts"),
  };
  return { file: (name) => fakes[name] ?? service };
}
