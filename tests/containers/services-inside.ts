// Runs inside (own-machine.ts), started by services.sampled.test.ts.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { GenericContainer, Wait } from "testcontainers";
import { startStack, withoutGame } from "../flow/stack.ts";
import { readInside } from "../namespaces/run.ts";
import { readCompose, withoutDigest } from "./compose-file.ts";
import { startDaemon } from "./daemon.ts";
import { importBase, makeNatsImage, makePostgresImage } from "./images.ts";
import type { Inside } from "./own-machine.ts";

const repo = resolve(import.meta.dirname, "../..");
const inside = readInside<Inside>();
const password = "test";
/** Files that need a database and little else; in whole those of every service. */
const sample = ["libs/store/src/**/*.test.ts", "services/identity/src/{.,budget,retention,setup}/*.test.ts"];

function imageOf(service: string): string {
  return withoutDigest(readCompose<{ image: string }>().services[service]?.image ?? "");
}

/** Runs test files with the server of the container in the place of the runner's own. */
async function runFiles(database: string): Promise<void> {
  const files = globSync(inside.isWhole ? ["services/*/src/**/*.test.ts"] : sample, { cwd: repo });
  const plain = files.filter((file) => !/\.(slow|sampled)\.test\.ts$/.test(file));
  assert.ok(plain.length > 0, "there are test files");
  const env = { ...process.env, SVC_TEST_DATABASE_URL: database };
  const options = { cwd: repo, env, maxBuffer: 1 << 26 };
  const words = ["--test", "--test-concurrency=2", "--test-reporter=spec", ...plain];
  type Failed = Error & { stdout?: string; stderr?: string };
  await promisify(execFile)(process.execPath, words, options).catch((error: Failed) => {
    const lines = (error.stdout ?? "").split("\n").filter((line) => !/^\s*[✔▶]/.test(line));
    throw new Error([error.message.split("\n")[0], ...lines, error.stderr].join("\n"));
  });
  console.log(`${plain.length} test files passed on a PostgreSQL in a container`);
}

/** A stack whose data is in the containers alone. */
async function runStack(env: { SVC_DATABASE_URL: string; SVC_NATS_URL: string }): Promise<void> {
  const stack = await startStack([...withoutGame], undefined, { env });
  try {
    await stack.becomeOwner();
    const made = await stack.external("POST", "/api/v1/servers", { name: "kept", subdomain: "kept" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const found = await stack.external("GET", "/api/v1/servers/kept/status");
    assert.equal(found.status, 200, JSON.stringify(found.body));
  } finally {
    await stack.stop();
  }
  console.log("a stack ran on PostgreSQL and NATS in containers");
}

async function main(): Promise<void> {
  await using docker = await startDaemon(inside);
  process.env["DOCKER_HOST"] = docker.host;
  // It ends what a killed process left; here everything ends with the daemon.
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  await importBase(docker, inside);
  await makePostgresImage(docker, inside, imageOf("postgres"));
  await makeNatsImage(docker, inside, imageOf("nats"));
  await using postgres = await new GenericContainer(imageOf("postgres"))
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withExposedPorts(5432)
    .withHealthCheck({ test: ["CMD-SHELL", "pg_isready"], interval: 500, timeout: 3_000, retries: 60 })
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  await using nats = await new GenericContainer(imageOf("nats"))
    .withCommand(["-js", "-sd", "/jetstream"])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
  const databaseUrl = (name: string) =>
    `postgres://postgres:${password}@127.0.0.1:${postgres.getMappedPort(5432)}/${name}`;
  await runFiles(databaseUrl("postgres"));
  await runStack({
    SVC_DATABASE_URL: databaseUrl("postgres"),
    SVC_NATS_URL: `nats://127.0.0.1:${nats.getMappedPort(4222)}`,
  });
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
