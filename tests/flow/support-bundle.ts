// Plants secrets wherever a stack may have them and looks for each in the bundle of `svc support-bundle`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSvc, type Stack } from "./stack.ts";

const files = [
  "versions.json",
  "settings.toml",
  "environment.json",
  "stack.json",
  "doctor.json",
  "status.json",
];
const more = ["events.jsonl", "streams.json", "database.json", "cluster.json", "manifest.json"];

/** Takes a bundle of the stack, and checks what is in it and what is not. */
export async function assertSupportBundle(stack: Stack): Promise<void> {
  const planted = plant(stack);
  const dir = mkdtempSync(join(tmpdir(), "svc-bundle-"));
  const out = join(dir, "bundle.tar.gz");
  const ask = () =>
    runSvc(["support-bundle", "--out", out, "--json", "--data", stack.dataDir], undefined, planted.env);
  try {
    const made = await ask();
    assert.equal(made.code, 0, made.stderr);
    const { path, missing } = JSON.parse(made.stdout) as { path: string; missing: unknown[] };
    assert.deepEqual([path, missing], [out, []]);
    assert.equal(statSync(out).mode & 0o777, 0o600);
    assert.match((await ask()).stderr, /already exists/);
    execFileSync("tar", ["--extract", "--file", out, "--directory", dir]);
    assertContent(dir, stack);
    assertNoSecret(dir, [...planted.secrets, ...ownSecrets(stack)]);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function assertContent(dir: string, stack: Stack): void {
  const read = (name: string) => {
    const [path] = globSync(`svc-support-*/${name}`, { cwd: dir });
    assert.ok(path, `${name} is not in the bundle`);
    return readFileSync(join(dir, path), "utf8");
  };
  for (const name of [...files, ...more]) assert.ok(read(name).length > 10, name);
  for (const { name, metrics } of stack.file().processes) {
    read(`logs/${name}.log`);
    if (metrics !== undefined) assert.match(read(`metrics/${name}.prom`), /process_cpu_seconds_total/);
  }
  assert.match(read("logs/identity.log"), /"msg":"ready"/);
  assert.match(read("logs/identity.log"), /planted line \d+/);
  assert.match(read("events.jsonl"), /svc\.evt\.lifecycle/);
  assert.match(read("streams.json"), /"identity-audit"/);
  const { migrations } = JSON.parse(read("database.json")) as {
    migrations: Record<string, { applied: unknown[] }>;
  };
  assert.ok((migrations["identity"]?.applied.length ?? 0) > 0);
  assert.match(read("cluster.json"), /"survival"/);
  assert.match(read("doctor.json"), /"healthy": true/);
}

/** Writes secrets into a log, into the environment and into a setting; returns each. */
function plant({ file, dataDir }: Stack): { secrets: string[]; env: NodeJS.ProcessEnv } {
  const secret = () => randomBytes(9).toString("hex");
  const secrets: string[] = [];
  const one = () => {
    const made = secret();
    secrets.push(made);
    return made;
  };
  const lines = [
    `GET http://user:${one()}@10.0.0.1/ failed`,
    `POST https://discord.example/api/webhooks/1/${one()} answered 500`,
    `authorization: Bearer ${one()}`,
    `cookie: svc_session=${one()}; theme=dark`,
    JSON.stringify({ level: "warn", smtp: { password: one() }, token: one(), msg: `token=${one()}` }),
    `mail to ${one()}@example.net was refused`,
    `-----BEGIN PRIVATE KEY-----\n${one()}\n-----END PRIVATE KEY-----`,
    // What is not marked as a secret is one because a file of secrets has it.
    `a word by itself: ${file().tokens.ops}`,
  ];
  const log = file().processes.find(({ name }) => name === "identity")?.log ?? "";
  appendFileSync(log, lines.map((line, index) => `planted line ${index}\n${line}\n`).join(""));
  appendFileSync(join(dataDir, "svc.toml"), `\n# smtp_password = "${one()}"\n`);
  const env = {
    SVC_SMTP_PASSWORD: one(),
    SVC_OFFSITE_SECRET_KEY: one(),
    SVC_SET: `panel.dir=smtp://me:${one()}@mail.example`,
    SVC_HEARTBEAT_URL: `https://hc.example/${one()}`,
  };
  return { secrets, env };
}

/** Secrets that the stack has made itself, and a mailed code. */
function ownSecrets({ dataDir, file }: Stack): string[] {
  const { tokens, nats_url, database_url, mail } = file();
  const stored = globSync("{secrets,tokens}/*", { cwd: dataDir }).flatMap((name) =>
    [...readFileSync(join(dataDir, name), "utf8").matchAll(/[\w-]{24,}/g)].map(([text]) => text),
  );
  const [session = ""] = readFileSync(join(dataDir, "cli-session"), "utf8").split(" ");
  // A mail that is being stored has another name.
  const mails = globSync("*.eml", { cwd: mail.dir }).map((name) =>
    readFileSync(join(mail.dir, name), "utf8"),
  );
  const addresses = mails.flatMap((text) =>
    [...text.matchAll(/[\w.]+@example\.net/g)].map(([address]) => address),
  );
  const urls = [nats_url, database_url].map((url) => new URL(url).password);
  const all = [...Object.values(tokens), ...stored, ...urls, ...addresses, session];
  const codes = mails.flatMap(
    (text) =>
      /\b\d{6}\b/.exec(
        text
          .split(/\r?\n\r?\n/)
          .slice(1)
          .join("\n"),
      ) ?? [],
  );
  assert.ok(stored.length > 10 && addresses.length > 0 && codes.length > 0);
  return [...new Set([...all, ...codes.map((code) => `"${code}"`)])].filter(Boolean);
}

function assertNoSecret(dir: string, secrets: readonly string[]): void {
  assert.ok(secrets.length > 30);
  for (const name of globSync("svc-support-*/**/*.*", { cwd: dir })) {
    const content = readFileSync(join(dir, name), "utf8");
    for (const secret of secrets) {
      const at = content.indexOf(secret);
      assert.equal(at, -1, `${name} has ${secret}: ${content.slice(Math.max(0, at - 80), at + 80)}`);
    }
  }
}
