// Downloads of packs from a real server with TLS, which lies as far as it can.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "@svc/local-stack/testing";
import type { PackDownload } from "@svc/proto/build-job";
import type { Address } from "@svc/service/pinned-lookup";
import { Folder } from "@svc/world";
import { ensureIdentity } from "../../../../libs/local-cluster/src/apiserver/tls/certificate.ts";
import { type TestBuild, testBuild } from "../testing/step.ts";
import { downloadAll } from "./downloads.ts";

const jar = Buffer.from("PK the bytes of a mod ".repeat(5_000));
const sha512 = createHash("sha512").update(jar).digest("hex");
const sha1 = createHash("sha1").update(jar).digest("hex");

const program = fileURLToPath(new URL("../testing/download-program.ts", import.meta.url));

let host: string;
let ca: string;
let asked: string[] = [];
let flaky = 0;
let folder: string;
const { promise: stalled, resolve: atStall } = Promise.withResolvers<void>();

/** Answers by path; `/right` is what the pack names. */
const answers: Record<string, (response: ServerResponse) => unknown> = {
  "/right": (response) => response.end(jar),
  "/wrong": (response) => response.end(Buffer.alloc(jar.length, "x")),
  "/long": (response) => response.end(Buffer.concat([jar, Buffer.from("!")])),
  "/endless": (response) => {
    const send = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      response.once("drain", send);
    };
    send();
  },
  "/short": (response) => response.end(jar.subarray(1)),
  "/cut": (response) => {
    response.writeHead(200, { "content-length": jar.length });
    response.write(jar.subarray(0, 10), () => response.destroy());
  },
  "/stalls": (response) => {
    response.writeHead(200, { "content-length": jar.length });
    response.write(jar.subarray(0, 10), () => atStall());
  },
  "/gone": (response) => response.writeHead(404).end(),
  "/flaky": (response) => {
    flaky += 1;
    response.writeHead(flaky < 3 ? 503 : 200).end(jar);
  },
  "/moved": (response) => response.writeHead(302, { location: "/right" }).end(),
  "/moved-out": (response) => response.writeHead(302, { location: "https://evil.example/right" }).end(),
  "/moved-plain": (response) => response.writeHead(302, { location: `http://${host}/right` }).end(),
  "/moved-inside": (response) => response.writeHead(302, { location: `https://inside.test/right` }).end(),
  "/moved-round": (response) => response.writeHead(302, { location: "/moved-round" }).end(),
};
const server = { close: () => {} };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-downloads-"));
  const identity = ensureIdentity(join(folder, "key"), join(folder, "cert"));
  const https = createServer(identity, (request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    (answers[request.url ?? ""] ?? answers["/gone"])?.(response);
  });
  await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
  host = `localhost:${(https.address() as AddressInfo).port}`;
  ca = identity.cert;
  server.close = () => {
    https.closeAllConnections();
    https.close();
  };
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const file = (path: string, ...from: string[]): PackDownload => ({
  path,
  ...{ size: jar.length, sha512, sha1 },
  urls: from.map((one) => (one.startsWith("/") ? `https://${host}${one}` : one)),
});

/** A name that leads to the same server, whose certificate does not have it. */
const other = () => host.replace("localhost", "other.test");

const names: Record<string, Address[]> = {
  "inside.test": [
    { address: "93.184.216.34", family: 4 },
    { address: "10.0.0.1", family: 4 },
  ],
  "link-local.test": [{ address: "169.254.169.254", family: 4 }],
};

type Run = {
  build: TestBuild;
  downloads: PackDownload[];
  hosts?: string[];
  retryMs?: number;
  signal?: AbortSignal;
};

async function run({
  build,
  downloads,
  hosts = [host, other(), "inside.test", "link-local.test"],
  ...more
}: Run) {
  asked = [];
  await putPlan(build, downloads);
  await using root = await Folder.openRoot(build.at("context"));
  return await downloadAll(
    root,
    { hosts, files: 3, bytes: 1 << 20 },
    {
      say: (line) => void build.lines.push(line),
      signal: more.signal ?? AbortSignal.timeout(60_000),
      limits: { stallMs: 500, retryMs: more.retryMs ?? 0 },
      network: {
        resolve: async (name) => names[name] ?? [{ address: "127.0.0.1", family: 4 }],
        isPublic: (address) => address === "127.0.0.1" || address.startsWith("93."),
        ca,
      },
    },
  );
}

async function putPlan(build: TestBuild, downloads: PackDownload[]): Promise<void> {
  const summary = { format: "modrinth", name: "Pack", version: "1", loader: "vanilla", minecraft: "1.21.4" };
  const about = { source_sha256: "a".repeat(64), base_image: "base:1" };
  await build.put({ "context/pack.json": JSON.stringify({ ...summary, ...about, downloads, left_out: [] }) });
}

async function filesIn(build: TestBuild): Promise<string[]> {
  const all = await readdir(build.at("context"), { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile() && entry.name !== "pack.json").map(({ name }) => name);
}

describe("downloads of a pack", () => {
  test("are in their folders once their bytes are proven, also after a redirect and from a second address", async () => {
    await using build = await testBuild();
    const downloads = [
      file("mods/a.jar", "/right"),
      file("mods/b.jar", "/moved"),
      file("c/d/e", "/gone", "/wrong", "/right"),
    ];
    assert.equal(await run({ build, downloads }), `downloaded 3 files, ${3 * jar.length} bytes`);
    for (const path of ["mods/a.jar", "mods/b.jar", "c/d/e"])
      assert.deepEqual(await readFile(build.at("context", "server", path)), jar);
    assert.equal((await filesIn(build)).length, 3);
  });
  test("are tried again while their server is unavailable", async () => {
    await using build = await testBuild();
    await run({ build, downloads: [file("a", "/flaky")], retryMs: 20_000 });
    assert.deepEqual(await filesIn(build), ["a"]);
    assert.match(build.lines[0] ?? "", /^a is unavailable; retrying\. localhost:\d+ answered 503\.$/);
  });

  const table: [fact: string, wanted: () => PackDownload, reason: RegExp][] = [
    [
      "other bytes",
      () => file("a", "/wrong"),
      /^a can't be downloaded: it is not the file that the pack names; its SHA-512 is /,
    ],
    ["another SHA-1", () => ({ ...file("a", "/right"), sha1: "0".repeat(40) }), /its SHA-1 is/],
    ["a byte too many", () => file("a", "/long"), /has more than 110000 bytes/],
    ["bytes without end", () => file("a", "/endless"), /has more than 110000 bytes/],
    ["a byte too few", () => file("a", "/short"), /it has 109999 bytes, not 110000/],
    ["an answer that breaks off", () => file("a", "/cut"), /^a is unavailable; retry the build later/],
    ["an answer that stalls", () => file("a", "/stalls"), /sent nothing for 500 ms/],
    ["an answer that it is not there", () => file("a", "/gone"), /answered 404/],
    ["a redirect to another host", () => file("a", "/moved-out"), /https:\/\/evil\.example is not allowed/],
    ["a redirect without TLS", () => file("a", "/moved-plain"), /http:\/\/localhost:\d+ is not allowed/],
    [
      "a redirect to a name with an inside address",
      () => file("a", "/moved-inside"),
      /inside\.test leads to a private address/,
    ],
    ["redirects in a circle", () => file("a", "/moved-round"), /redirects more than 5 times/],
    ["a host that is not allowed", () => file("a", "https://evil.example/x"), /evil\.example is not allowed/],
    [
      "a private address",
      () => file("a", "https://link-local.test/x"),
      /link-local\.test leads to a private address/,
    ],
    [
      "a certificate of another name",
      () => file("a", `https://${other()}/right`),
      /does not match certificate/,
    ],
    ["a path that goes up", () => file("../a", "/right"), /must not go up/],
    ["a path of ours", () => file(".svc-x/a", "/right"), /belong to running operations/],
    ["a path below a file", () => file("pack.json/../../x", "/right"), /must not go up/],
    ["no hash", () => ({ path: "a", size: 1, urls: [`https://${host}/right`] }), /a has no hash/],
  ];
  for (const [fact, wanted, reason] of table)
    test(`fail with ${fact}, and nothing of the file stays`, async () => {
      await using build = await testBuild();
      await assert.rejects(run({ build, downloads: [wanted()] }), { message: reason });
      assert.deepEqual(await filesIn(build), []);
    });

  test("fail before anything is asked for when there are more than the operator allows", async () => {
    await using build = await testBuild();
    const four = ["a", "b", "c", "d"].map((path) => file(path, "/right"));
    await assert.rejects(run({ build, downloads: four }), /4 files, more than builds\.pack_downloads/);
    const large = [{ ...file("a", "/right"), size: 2 << 20 }];
    await assert.rejects(run({ build, downloads: large }), /more than builds\.pack_download_bytes/);
    await assert.rejects(run({ build, downloads: four.slice(0, 1), hosts: [] }), /is not allowed/);
    assert.deepEqual(asked, []);
  });
  test("of one that is stopped nothing stays but what was proven", async () => {
    await using build = await testBuild();
    const stopping = new AbortController();
    const running = run({
      ...{ build, downloads: [file("proven", "/right"), file("half", "/stalls")], retryMs: 60_000 },
      signal: stopping.signal,
    });
    await stalled;
    await until(async () => (await filesIn(build)).includes("proven"), 20_000, "the first file");
    stopping.abort(new Error("the build was stopped"));
    await assert.rejects(running, /the build was stopped/);
    assert.deepEqual(await filesIn(build), ["proven"]);
  });
  test("of a process that is killed no file has its name before it is whole, and the next build has them all", async () => {
    await using killed = await testBuild();
    const downloads = [file("mods/proven", "/right"), file("mods/half", "/stalls")];
    await putPlan(killed, downloads);
    const child = spawn(process.execPath, [program, killed.at("context"), host, ca], { stdio: "ignore" });
    const exited = once(child, "exit");
    await until(
      async () =>
        (await filesIn(killed)).toSorted().join().startsWith(".svc-download-") && (await hasProven(killed)),
      60_000,
      "one file whole and one begun",
    );
    child.kill("SIGKILL");
    await exited;
    const [partial = "", ...others] = (await filesIn(killed)).toSorted();
    assert.deepEqual([partial.startsWith(".svc-download-"), others], [true, ["proven"]]);
    // Its Job has failed, and a retry has volumes of its own.
    await using next = await testBuild();
    await run({ build: next, downloads: downloads.map(({ path }) => file(path, "/right")) });
    assert.deepEqual((await filesIn(next)).toSorted(), ["half", "proven"]);
  });
});

const hasProven = async (build: TestBuild) => (await filesIn(build)).includes("proven");
