import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError } from "@svc/config";
import { loadConfig } from "./config.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-sftp-config-"));
after(() => rmSync(dir, { recursive: true }));
const secretFile = join(dir, "secret");
writeFileSync(secretFile, `${"s".repeat(32)}\n`);
const minimal = {
  SVC_SFTP_HOST_KEY_FILE: secretFile,
  SVC_API_BASE_URL: "http://127.0.0.1:8081",
  SVC_EXTERNAL_URL: "http://127.0.0.1:8080",
  SVC_SERVICE_TOKEN_FILE: "/token",
  SVC_ROOT_DOMAIN: "play.example",
};

test("with what is needed, everything else has the documented default", () => {
  assert.deepEqual(loadConfig(minimal), {
    host: "127.0.0.1",
    port: 2_222,
    publicHost: "sftp.play.example",
    publicPort: 0,
    hostKeySecret: "s".repeat(32),
    internalUrl: "http://127.0.0.1:8081",
    externalUrl: "http://127.0.0.1:8080",
    tokenFile: "/token",
    spoolDir: tmpdir(),
    spoolBytes: 8 * 1_024 ** 3,
    sessions: 256,
    sessionsPerAccount: 8,
    connectionsPerAddress: 16,
    signInsPerMinute: 20,
    idleMs: 900_000,
  });
});

test("the host that people are told is the named one, else sftp.<root domain>", () => {
  const hostOf = (change: object) => loadConfig({ ...minimal, ...change }).publicHost;
  assert.equal(hostOf({ SVC_SFTP_PUBLIC_HOST: "files.example.org" }), "files.example.org");
  assert.equal(
    hostOf({ SVC_SFTP_PUBLIC_HOST: "files.example.org", SVC_ROOT_DOMAIN: "" }),
    "files.example.org",
  );
});

const short = join(dir, "short");
writeFileSync(short, "short");
const refused: [what: string, change: Record<string, string>, message: RegExp][] = [
  ["no host", { SVC_ROOT_DOMAIN: "" }, /SVC_SFTP_PUBLIC_HOST or SVC_ROOT_DOMAIN is not set/],
  ["no secret", { SVC_SFTP_HOST_KEY_FILE: "" }, /SVC_SFTP_HOST_KEY_FILE is not set/],
  ["a secret that is not there", { SVC_SFTP_HOST_KEY_FILE: join(dir, "no") }, /can't be read/],
  ["a short secret", { SVC_SFTP_HOST_KEY_FILE: short }, /at least 32 characters/],
  ["no internal face", { SVC_API_BASE_URL: "" }, /SVC_API_BASE_URL must be/],
  ["an address that is none", { SVC_EXTERNAL_URL: "ftp://x" }, /SVC_EXTERNAL_URL must be/],
  ["no token", { SVC_SERVICE_TOKEN_FILE: "" }, /SVC_SERVICE_TOKEN_FILE is not set/],
  ["a port that is none", { SVC_SFTP_PORT: "70000" }, /SVC_SFTP_PORT/],
  ["no time to be idle", { SVC_SFTP_IDLE_SECONDS: "1" }, /SVC_SFTP_IDLE_SECONDS/],
];
for (const [what, change, message] of refused)
  test(`${what} stops the start`, () => {
    assert.throws(
      () => loadConfig({ ...minimal, ...change }),
      (error) => error instanceof ConfigError && message.test(error.message),
    );
  });
