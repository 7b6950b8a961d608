// Runs the tests: one PostgreSQL for all files, then node:test with a process per file.
// `npm test` runs everything; `npm test -- libs/mesh tests/flow` only what lies below those paths.

import { spawn } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { findFreePort, startPostgres } from "@svc/local-stack";

const root = resolve(import.meta.dirname, "..");
const patterns = [
  "{proto,libs,services}/**/*.test.ts",
  "tests/{browser,contract,fault,flow,security,kube,smtp}/**/*.test.ts",
];

function testFiles(wanted: readonly string[]): string[] {
  const all = globSync(patterns, { cwd: root, exclude: (path) => path.includes("node_modules") }).sort();
  if (wanted.length === 0) return all;
  return all.filter((file) => wanted.some((path) => file.startsWith(relative(root, resolve(root, path)))));
}

function run(files: readonly string[], options: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const args = ["--test", "--test-concurrency=2", ...options, ...files];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", env });
  // Whoever gives up waiting must not leave a database behind.
  const onSignal = () => child.kill("SIGTERM");
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  return new Promise((settle) =>
    child.on("exit", (code) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, onSignal);
      settle(code ?? 1);
    }),
  );
}

const args = process.argv.slice(2);
const options = args.filter((argument) => argument.startsWith("--"));
const files = testFiles(args.filter((argument) => !argument.startsWith("--")));
if (files.length === 0) {
  console.error("no test file matches; name folders or files relative to the checkout");
  process.exit(1);
}
const dataDir = mkdtempSync(join(tmpdir(), "svc-test-"));
const postgres = await startPostgres({
  dataDir: join(dataDir, "postgres"),
  port: await findFreePort(),
  password: "test",
  isDurable: false,
});
let code = 1;
let isStopped = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    isStopped = true;
  });
}
try {
  // The scene needs the machine for itself, so it comes after everything else.
  const isScene = (file: string) => /^tests\/(browser|fault|flow)\//.test(file);
  const env = { ...process.env, SVC_TEST_DATABASE_URL: postgres.url };
  const groups = [files.filter((file) => !isScene(file)), files.filter(isScene)].filter(
    (group) => group.length > 0,
  );
  const codes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (isStopped) break;
    const serial = isScene(group[0] ?? "") && index === groups.length - 1 ? ["--test-concurrency=1"] : [];
    codes.push(await run(group, [...options, ...serial], env));
  }
  code = isStopped ? 1 : Math.max(...codes);
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(code);
