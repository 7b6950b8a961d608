import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
export function writeFakePrograms(dir: string): {
  service: (name: string) => string;
  migrate: string[];
  cluster: string;
  panel: string[];
} {
  mkdirSync(dir, { recursive: true });
  const write = (name: string, source: string) => {
    const path = join(dir, `${name}.mjs`);
    writeFileSync(path, source);
    return path;
  };
  const [service, identity] = [write("service", serviceSource), write("identity", identitySource)];
  return {
    service: (name) => (name === "identity" ? identity : service),
    migrate: [write("migrate", "process.exit(process.env.SVC_ADMIN_DATABASE_URL ? 0 : 1);")],
    cluster: write("cluster", clusterSource),
    panel: [write("panel", panelSource)],
  };
}
