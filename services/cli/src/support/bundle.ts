// svc support-bundle: what a helper needs to see, in one archive that may be sent (docs/reference/cli.md#support-bundle).

import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { createRedact } from "@svc/telemetry/redact";
import { callerDir, environment } from "../config.ts";
import { CommandError, explainError, type Outcome, sizeText } from "../output.ts";
import { type Part, partsOf } from "./collect.ts";
import { knownSecrets } from "./secrets.ts";

const partWithinMs = 30_000;

type Gathered = { file: string; bytes: number } | { file: string; missing: string };

/** Collects, redacts and packs; a part that cannot be read is named in the bundle instead. */
export async function writeSupportBundle(options: { data: string; out?: string }): Promise<Outcome> {
  const madeAt = new Date();
  const stamp = madeAt.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const name = `svc-support-${stamp}`;
  const path = resolve(callerDir, options.out ?? `${name}.tar.gz`);
  const out = reserve(path);
  const work = mkdtempSync(join(tmpdir(), "svc-support-"));
  try {
    const folder = join(work, name);
    mkdirSync(folder, { mode: 0o700 });
    const redact = createRedact(knownSecrets(options.data, environment()));
    const gathered = await Promise.all(partsOf(options.data).map((part) => gather(folder, part, redact)));
    const manifest = { made_at: madeAt.toISOString(), parts: gathered };
    writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await pack(work, out);
    return outcomeOf(path, gathered);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(out);
    rmSync(work, { recursive: true, force: true });
  }
}

/** Creates the file for its owner alone; an existing one stays as it is. */
function reserve(path: string): number {
  return openSync(path, "wx", 0o600);
}

async function gather(
  folder: string,
  { file, read }: Part,
  redact: (text: string) => string,
): Promise<Gathered> {
  const tooLong = AbortSignal.timeout(partWithinMs);
  try {
    const content = redact(await Promise.race([read(), aborted(tooLong)]));
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode: 0o600 });
    return { file, bytes: Buffer.byteLength(content) };
  } catch (error) {
    return { file, missing: redact(explainError(error)) };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () =>
      reject(new CommandError(`no answer within ${partWithinMs / 1_000} s`)),
    );
  });
}

/** Packs what lies in the folder into the open file. */
async function pack(folder: string, out: number): Promise<void> {
  const args = [
    "--create",
    "--gzip",
    "--owner=0",
    "--group=0",
    "--directory",
    folder,
    ...readdirSync(folder),
  ];
  const child = spawn("tar", args, { stdio: ["ignore", out, "pipe"] });
  const [said, code] = await Promise.all([
    child.stderr ? text(child.stderr) : "",
    new Promise<number | null>((done, fail) => child.once("close", done).once("error", fail)),
  ]);
  if (code !== 0) throw new CommandError(`tar could not pack the bundle: ${said.trim().split("\n")[0]}`);
}

function outcomeOf(path: string, gathered: readonly Gathered[]): Outcome {
  const missing = gathered.flatMap((part) => ("missing" in part ? [part] : []));
  const bytes = statSync(path).size;
  const lines = [
    `Written: ${path} (${sizeText(bytes)}, readable by you alone).`,
    "Passwords, tokens, codes, cookies, e-mail addresses and paths of foreign URLs are removed. Names of servers and players are in it: look through it before you send it.",
    ...missing.map(({ file, missing: why }) => `Missing: ${file}: ${why}`),
  ];
  return { json: { path, bytes, parts: gathered.map(({ file }) => file), missing }, text: lines.join("\n") };
}
