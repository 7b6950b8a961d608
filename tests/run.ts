// Runs the tests: one PostgreSQL for all files, then node:test with a process per file.
// `npm test` runs everything; `npm test -- libs/mesh tests/flow` only what lies below those paths. Tests that take
// minutes (*.sampled.test.ts) run a sample; `npm test -- --whole` runs them completely, and no other files.

import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { findFreePort, startPostgres } from "@svc/local-stack";
import { measureSlowness } from "@svc/local-stack/testing";

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

const fileTimeoutMs = 420_000;
const patience = measureSlowness();
const atOnce = { plain: patience > 1 ? 2 : 3, stack: patience > 1 ? 1 : 3, alone: 1 } as const;

/** Runs files and returns the exit code; which failed and how long each took is written to `reportTo`. */
function run(
  files: readonly string[],
  options: readonly string[],
  { env, reportTo }: { env: NodeJS.ProcessEnv; reportTo: string },
): Promise<number> {
  const reporters = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...[`--test-reporter=${join(root, "tests/file-report.ts")}`, `--test-reporter-destination=${reportTo}`],
  ];
  // A file whose failed test left a handle open would otherwise never end.
  const limit = `--test-timeout=${fileTimeoutMs * patience}`;
  const args = ["--test", limit, ...reporters, ...options, ...files];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", env });
  // An interrupted run must not leave a database behind.
  const onSignal = () => child.kill("SIGTERM");
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  return new Promise((settle) =>
    child.on("exit", (code) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, onSignal);
      settle(code ?? 1);
    }),
  );
}

type Report = { failed: string[]; took: { file: string; seconds: number }[] };

function readReport(path: string): Report {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  const report: Report = { failed: [], took: [] };
  for (const line of lines) {
    const [kind, ...rest] = line.split(" ");
    if (kind === "failed") report.failed.push(rest.join(" "));
    if (kind === "took")
      report.took.push({ seconds: Number(rest[0]) / 1_000, file: rest.slice(1).join(" ") });
  }
  return report;
}

function printFailed(failed: readonly string[]): void {
  const names = [...new Set(failed)].map((file) => relative(root, file));
  console.log(`\nFAILED: ${names.join(", ")}`);
}

const slowestFiles = 12;

function printSlowest(took: Report["took"]): void {
  const slowest = took.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestFiles);
  const lines = slowest.map(
    ({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(root, file)}`,
  );
  console.log(`\nThe slowest of ${took.length} files:\n${lines.join("\n")}`);
}

const isSampled = (file: string) => file.endsWith(".sampled.test.ts");

const args = process.argv.slice(2);
const isWhole = args.includes("--whole");
const options = args.filter((argument) => argument.startsWith("--") && argument !== "--whole");
const files = testFiles(args.filter((argument) => !argument.startsWith("--"))).filter(
  (file) => !isWhole || isSampled(file),
);
if (files.length === 0) {
  console.error("no test file matches; name folders or files relative to the checkout");
  process.exit(1);
}
if (patience > 1)
  console.log(`This machine is ${patience} times slower than usual: tests wait longer by that factor.`);
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
  // Files that start a whole stack come after the others, which they would slow down; last and alone comes the file that
  // measures what a caller notices while a process is killed.
  const kindOf = (file: string) =>
    file === "tests/fault/replicas.sampled.test.ts"
      ? "alone"
      : /^tests\/(browser|fault|flow)\//.test(file)
        ? "stack"
        : "plain";
  const env = {
    ...process.env,
    SVC_TEST_DATABASE_URL: postgres.url,
    SVC_TEST_PATIENCE: String(patience),
    ...(isWhole && { SVC_TESTS: "whole" }),
  };
  const kinds = (["plain", "stack", "alone"] as const).filter((kind) =>
    files.some((file) => kindOf(file) === kind),
  );
  const codes: number[] = [];
  const reports: Report[] = [];
  for (const kind of kinds) {
    if (isStopped) break;
    const own = files.filter((file) => kindOf(file) === kind);
    const reportTo = join(dataDir, `report-${kind}`);
    codes.push(await run(own, [`--test-concurrency=${atOnce[kind]}`, ...options], { env, reportTo }));
    reports.push(readReport(reportTo));
  }
  if (files.length > slowestFiles) printSlowest(reports.flatMap((report) => report.took));
  const failed = reports.flatMap((report) => report.failed);
  if (failed.length > 0) printFailed(failed);
  code = isStopped ? 1 : Math.max(...codes);
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(code);
