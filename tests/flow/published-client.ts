// The published client as a stranger has it: packed, installed into an empty project without a network, checked by the strictest
// compiler, run by plain node against the stack (docs/reference/client.md#package).

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { npm, packInto } from "@svc/client/pack";
import { until } from "@svc/local-stack/testing";
import type { Stack } from "./stack.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const server = "work";

/** The server is there, stopped, and the caller's. */
export async function assertPublishedClient(stack: Stack): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-stranger-"));
  try {
    install(folder);
    const rights = "see,power,console.read,files.read,files.write";
    const made = await stack.svc(
      "token",
      "create",
      "stranger",
      "--right",
      rights,
      "--server",
      server,
      "--json",
    );
    assert.equal(made.code, 0, made.stderr);
    const { secret } = JSON.parse(made.stdout) as { secret: string };
    const url = stack.file().external_base_url;
    writeFileSync(join(folder, "map.zip"), "a map\n");
    writeFileSync(join(folder, "example.ts"), readExample().replace("https://console.example.net", url));
    writeFileSync(join(folder, "program.ts"), programOf(url));
    await compile(folder);
    const env = { ...process.env, SVC_TOKEN: secret };
    // A test before this one may have woken the server within the cooldown.
    const runExample = () => run(process.execPath, ["example.js"], { cwd: folder, env });
    const { stdout: first } = await until(runExample, 60_000, "the example to wake the server");
    assert.match(first, /^work Stopped$/m);
    assert.match(first, /Done \(/);
    const { stdout } = await run(process.execPath, ["program.js"], { cwd: folder, env });
    assert.deepEqual(JSON.parse(stdout), {
      ...{ rights: rights.split(","), refused: ["file_exists", 409], forbidden: "token_scope" },
      ...{ files: ["map.zip"], unknown: "unauthorized", phase: "Stopped" },
    });
    assert.equal((await stack.svc("files", "rm", server, "map.zip", "--yes")).code, 0);
    assert.equal((await stack.svc("token", "revoke", "stranger")).code, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An empty project with the tarball; zod, its one dependency, comes from the checkout. */
function install(folder: string): void {
  const tarball = packInto(folder);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(tarball, join(folder, `svc-client-${version}.tgz`));
  const dependencies = { "@svc/client": `file:${tarball}`, zod: `file:${join(root, "node_modules/zod")}` };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  npm(["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], folder);
  const installed = join(folder, "node_modules/@svc/client");
  for (const file of ["LICENSE", "README.md", "dist/client/published/index.d.ts"])
    assert.ok(existsSync(join(installed, file)), file);
  assert.equal(existsSync(join(installed, "src")), false);
}

/** The example of the README, which ends once the server is up. */
function readExample(): string {
  const readme = readFileSync(join(root, "libs/client/src/published/README.md"), "utf8");
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const ending = "console.log(line.data);\n";
  assert.ok(example.endsWith(ending));
  return `${example.slice(0, -ending.length)}{ ${ending} if (line.data.includes("Done (")) break; }\n`.replaceAll(
    '"survival"',
    `"${server}"`,
  );
}

const programOf = (url: string) => `
import { ApiError, createClient, isRefused, uploadFile, type FaultCode } from "@svc/client";
import { apiTokens, createClient as createSmall, servers } from "@svc/client/core";

const name = ${JSON.stringify(server)};
const url = ${JSON.stringify(url)};
const token = process.env["SVC_TOKEN"] ?? "";
const svc = createClient({ url, token, timeoutMs: 120_000 });
const small = createSmall({ url, token, use: { servers, apiTokens } });
const codeOf = async (work: Promise<unknown>): Promise<[code: string, status: number]> =>
  work.then(() => ["", 0], (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return [error.code, error.status];
  });

await small.servers.stop({ name });
let phase: "Unknown" | "Stopped" | "Starting" | "Running" | "Stopping" | "Failed";
do {
  await new Promise((settle) => setTimeout(settle, 200));
  ({ phase } = await small.servers.viewStatus({ name }));
} while (phase !== "Stopped");

const again = { name, path: "map.zip", content: new TextEncoder().encode("another") };
const refused = await codeOf(uploadFile(svc, again));
const [forbidden] = await codeOf(svc.consoles.command({ name, command: "list" }));
const [unknown] = await codeOf(createClient({ url, token: "svc_pat_x" }).ownership.listMine());
const { entries } = await svc.files.list({ name, path: "" });
const files = entries.map((entry) => entry.name).filter((file) => file === "map.zip");
const { rights } = await small.apiTokens.readOwn();
console.log(JSON.stringify({ rights, refused, forbidden, unknown, files, phase }));

// Types alone: each of these lines must be an error.
const wrong = async (error: unknown) => {
  // @ts-expect-error no such operation
  await svc.servers.destroy({ name });
  // @ts-expect-error its input has a name
  await svc.servers.wake({});
  // @ts-expect-error only these nouns were taken
  await small.files.list({ name, path: "" });
  // @ts-expect-error no such code
  return isRefused(error, "nonsense" satisfies FaultCode);
};
void wrong;
`;

async function compile(folder: string): Promise<void> {
  const compilerOptions = {
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    ...{ target: "es2022", lib: ["es2023", "dom"], module: "nodenext", skipLibCheck: false },
    ...{ typeRoots: [join(root, "node_modules/@types")], types: ["node"] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  const done = await run(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => error);
  assert.equal(done.stdout, "");
}
