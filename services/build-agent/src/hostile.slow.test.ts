// Dockerfiles, contexts and registries of somebody who means harm, or of a bad day: a step ends with a reason that says what
// to do, within its bounds, and leaves no image.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, statfs, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { until } from "@svc/local-stack/testing";
import { digestOf, mediaTypes } from "@svc/registry";
import { findBinary, startTestRegistry } from "@svc/registry/testing";
import { makeTar } from "../../../libs/world/src/testing.ts";
import { fetchContext } from "./context/fetch.ts";
import { openImageArchive } from "./image/archive.ts";
import { buildImage } from "./image/build.ts";
import { pushImage } from "./image/push.ts";
import { serve, type TestBuild, testBuild } from "./testing/step.ts";

const doubling = Array.from({ length: 60 }, (_, n) => `ENV A${n + 1}=$A${n}$A${n}`).join("\n");
const bomb = gzipSync(makeTar([{ path: "zeros", content: Buffer.alloc(700) }]));

describe("a Dockerfile is refused by its line", () => {
  const cases: Record<string, [files: Record<string, string | Buffer>, message: RegExp]> = {
    "whose variables double with each line": [
      { Dockerfile: `FROM scratch\nENV A0=${"x".repeat(1_000)}\n${doubling}\n` },
      /line 1\d: ENV: the variables of the Dockerfile come to more than 1048576/,
    ],
    "with an endless line": [
      { Dockerfile: `FROM scratch\nEXPOSE ${"1 ".repeat(40_000)}\n` },
      /line 2: EXPOSE: is longer than 65536/,
    ],
    "with one instruction too many": [
      { Dockerfile: `FROM scratch\n${"USER 1\n".repeat(1_000)}` },
      /more than 1000 instructions/,
    ],
    "larger than 1 MiB": [
      { Dockerfile: `FROM scratch\n#${"x".repeat(1 << 20)}` },
      /Dockerfile: it has 10485\d\d bytes, more than 1048576/,
    ],
    "that copies everything again and again": [
      { Dockerfile: `FROM scratch\n${"COPY large /x\n".repeat(30)}`, large: Buffer.alloc(1_000) },
      /line 12: the image has more than 2 times the bytes/,
    ],
    "that unpacks one archive after the other": [
      { Dockerfile: `FROM scratch\n${"ADD bomb.tgz /x\n".repeat(30)}`, "bomb.tgz": bomb },
      /line 6: ADD: The archive has more than 2200 bytes/,
    ],
    "whose .dockerignore has a line too many": [
      { Dockerfile: "FROM scratch\nCOPY . /\n", ".dockerignore": "x\n".repeat(1_001) },
      /\.dockerignore has more than 1000 lines/,
    ],
    "whose .dockerignore is larger than 1 MiB": [
      { Dockerfile: "FROM scratch\nCOPY . /\n", ".dockerignore": "x".repeat((1 << 20) + 1) },
      /\.dockerignore: it has 1048577 bytes/,
    ],
    "that names a file of the machine": [
      { Dockerfile: "FROM scratch\nCOPY ../../../../../../etc/passwd /x\n" },
      /line 2: COPY: .*etc\/passwd is not in the context/,
    ],
    "that downloads": [
      { Dockerfile: "FROM scratch\nADD http://127.0.0.1:1/x /x\n" },
      /line 2: ADD: .*nothing is downloaded/,
    ],
    "of an image of another registry": [
      { Dockerfile: "FROM docker.io/library/alpine\n" },
      /line 1: FROM: .*only its images and scratch/,
    ],
  };
  for (const [what, [files, message]] of Object.entries(cases))
    test(what, async () => {
      await using build = await testBuild({ limits: { context_bytes: 5_000, context_entries: 50 } });
      await build.put(
        Object.fromEntries(Object.entries(files).map(([name, text]) => [`context/${name}`, text])),
      );
      await assert.rejects(build.run(buildImage), { name: "StepFailure", message });
      assert.deepEqual([await readdir(build.at("image")), await readdir(build.at("tmp"))], [[], []]);
    });
});

const config = Buffer.from(
  JSON.stringify({ architecture: "amd64", os: "linux", config: {}, rootfs: { diff_ids: [] } }),
);
const describeBlob = (mediaType: string, bytes: Buffer) => ({
  mediaType,
  digest: digestOf(bytes),
  size: bytes.length,
});
const manifest = Buffer.from(
  JSON.stringify({ schemaVersion: 2, config: describeBlob(mediaTypes.config, config), layers: [] }),
);

type Answerer = (request: IncomingMessage, response: ServerResponse) => void;
const healthy: Answerer = (request, response) => {
  const isManifest = request.url?.includes("/manifests/");
  response.setHeader("content-type", isManifest ? mediaTypes.manifest : "application/octet-stream");
  response.end(isManifest ? manifest : config);
};

/** Every n-th answer is healthy. */
const flaky = (n: number, ill: Answerer): Answerer => {
  let asked = 0;
  return (request, response) => (++asked % n === 0 ? healthy : ill)(request, response);
};
const ill: Record<string, Answerer> = {
  "answers 503": (_request, response) => void response.writeHead(503, { "retry-after": "1" }).end(),
  "answers 500": (_request, response) => void response.writeHead(500).end(),
  "breaks off": (_request, response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("x", () => response.destroy());
  },
  hangs: () => {},
};

async function fromRegistry(answer: Answerer): Promise<TestBuild & AsyncDisposable> {
  const face = await serve((request, response) => answer(request, response));
  const { host } = new URL(face.url);
  const build = await testBuild({ registry: { host, plain_http: true }, image_ref: `${host}/packs/one:1` });
  await build.put({ "context/Dockerfile": `FROM ${host}/base:1\n` });
  build.limits = { registryMs: 20_000, retryMs: 200, registryRetryMs: 200 };
  const dispose = build[Symbol.asyncDispose];
  return {
    ...build,
    run: build.run,
    [Symbol.asyncDispose]: async () => {
      await face[Symbol.asyncDispose]();
      await dispose();
    },
  };
}

describe("a registry that", () => {
  for (const [what, answer] of Object.entries(ill)) {
    test(`${what} is unavailable, to a base and to a push: the build can be retried`, async () => {
      await using build = await fromRegistry(answer);
      if (what === "hangs") build.limits.registryMs = 500;
      const unavailable = {
        name: "StepFailure",
        message: /^the registry is unavailable; retry the build later/,
      };
      await assert.rejects(build.run(buildImage), unavailable);
      assert.deepEqual(await readdir(build.at("image")), []);
      await build.put({ "context/Dockerfile": "FROM scratch\n" });
      await build.run(buildImage);
      await assert.rejects(build.run(pushImage), unavailable);
    });
  }
  test("recovers in time does not fail a build", async () => {
    for (const answer of ["answers 503", "breaks off"]) {
      await using build = await fromRegistry(flaky(3, ill[answer] ?? healthy));
      build.limits.retryMs = 60_000;
      await build.run(buildImage);
      assert.deepEqual(await readdir(build.at("image")), ["image.tar"]);
    }
  });
  const lies: Record<string, [answer: Answerer, message: RegExp]> = {
    redirects: [
      (_request, response) => void response.writeHead(307, { location: "http://127.0.0.1:1/x" }).end(),
      /redirects are not followed/,
    ],
    "asks for a password": [(_request, response) => void response.writeHead(401).end(), /answered 401/],
    "says that a push is there under another digest": [
      (request, response) => {
        const digest = `sha256:${"0".repeat(64)}`;
        response.setHeader("docker-content-digest", digest);
        const status = { HEAD: 404, POST: 202, PUT: 201 }[request.method ?? ""] ?? 200;
        response.writeHead(status, { location: "/v2/packs/one/blobs/uploads/1" }).end();
      },
      /stored sha256:0000|named sha256:0000/,
    ],
    "forgets what was pushed": [
      (request, response) => {
        const status = { HEAD: 404, POST: 202, PUT: 201 }[request.method ?? ""] ?? 200;
        response.writeHead(status, { location: "/v2/packs/one/blobs/uploads/1" }).end();
      },
      /named undefined|names nothing/,
    ],
  };
  for (const [what, [answer, message]] of Object.entries(lies))
    test(`${what} fails the push, which says so`, async () => {
      await using build = await fromRegistry(answer);
      await build.put({ "context/Dockerfile": "FROM scratch\n" });
      await build.run(buildImage);
      await assert.rejects(build.run(pushImage), { message });
    });
});

test("an archive whose layer is not what its name says is not pushed, also where the registry has that layer", async () => {
  const registry = await startTestRegistry();
  try {
    await using build = await testBuild({
      registry: { host: registry.host, plain_http: true },
      image_ref: `${registry.host}/packs/one:1`,
    });
    await build.put({ "context/Dockerfile": "FROM scratch\nCOPY a /a\n", "context/a": "harmful" });
    await build.run(buildImage);
    await build.run(pushImage);
    const archive = await readFile(build.at("image/image.tar"));
    await using image = await openImageArchive(build.at("image/image.tar"));
    const [layer] = image.manifest.layers;
    assert.ok(layer);
    // What a scanner would see in its place.
    archive.fill(
      7,
      archive.indexOf(await image.read(layer)),
      archive.indexOf(await image.read(layer)) + layer.size,
    );
    await writeFile(build.at("image/image.tar"), archive);
    await assert.rejects(build.run(pushImage), /sha256:\w+ in the image archive is damaged/);
  } finally {
    await registry.stop();
  }
});

const packed = gzipSync(
  makeTar([
    { path: "Dockerfile", content: "FROM scratch\n" },
    { path: "world/level.dat", content: Buffer.alloc(200_000, 7) },
  ]),
  { level: 0 },
);

describe("the context of an internal face that", () => {
  const fetched = async (answer: Answerer, retryMs: number) => {
    const face = await serve((request, response) => answer(request, response));
    const build = await testBuild({
      context_url: face.url,
      context_digest: createHash("sha256").update(packed).digest("hex"),
    });
    build.limits = { retryMs, stallMs: 300 };
    await using _ = face;
    const failure = await build.run(fetchContext).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { build, failure };
  };
  const whole: Answerer = (_request, response) => void response.end(packed);
  const cut: Answerer = (_request, response) => {
    response.writeHead(200, { "content-length": String(packed.length) });
    response.write(packed.subarray(0, 150_000), () => response.destroy());
  };
  for (const [what, bad] of Object.entries({ ...ill, "is cut in the middle": cut })) {
    test(`${what} is fetched again, whole`, async () => {
      let asked = 0;
      const { build, failure } = await fetched((request, response) => {
        asked += 1;
        (asked <= 2 ? bad : whole)(request, response);
      }, 60_000);
      await using _ = build;
      assert.equal(failure, undefined);
      assert.deepEqual((await readdir(build.at("context"))).sort(), ["Dockerfile", "world"]);
      assert.equal(build.lines.filter((line) => line.includes("unavailable; retrying")).length >= 2, true);
    });
    test(`${what} all the time is unavailable, not rejected`, async () => {
      const { build, failure } = await fetched(bad, 300);
      await using _ = build;
      assert.match(failure ?? "", /^the context is unavailable; retry the build later/);
    });
  }
  test("refuses it is asked once", async () => {
    let asked = 0;
    const { build, failure } = await fetched((_request, response) => {
      asked += 1;
      response.writeHead(403).end();
    }, 60_000);
    await using _ = build;
    assert.deepEqual([asked, /can't be fetched: .*answered 403/.test(failure ?? "")], [1, true]);
  });
});

const buildah = process.getuid?.() === 0 ? findBinary("buildah") : undefined;

/** A context whose image has a shell, sleep, yes, head and nothing else. */
async function withShell(run: string): Promise<TestBuild> {
  const build = await testBuild();
  build.env["SVC_BUILDER"] = "buildah";
  const libraries = execFileSync("ldd", ["/bin/dash"], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
  for (const path of [...libraries, "/bin/dash", "/bin/sleep", "/usr/bin/yes", "/usr/bin/head"]) {
    const target = build.at("context/root", path === "/bin/dash" ? "bin/sh" : path);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(path, target);
  }
  await build.put({ "context/Dockerfile": `FROM scratch\nCOPY root /\n${run}\n` });
  return build;
}

describe("a RUN line of buildah", {
  skip: buildah ? false : "buildah is not on PATH, or this is not root",
}, () => {
  test("runs, and sees nothing of ours: no token, no task, no folder", async () => {
    await using build = await withShell("RUN set; echo /*; [ ! -e /secret ] && [ ! -e /registry ]");
    build.env["SVC_REGISTRY_PUSH_TOKEN"] = "hidden-token";
    await build.run(buildImage);
    const log = build.lines.join("\n");
    assert.match(log, /PPID=/);
    assert.doesNotMatch(log, /hidden-token|SVC_|build_id/);
    assert.deepEqual(await readdir(build.at("image")), ["image.tar"]);
  });
  test("that fails is the reason of the failure", async () => {
    await using build = await withShell("RUN echo too bad >&2; exit 7");
    await assert.rejects(build.run(buildImage), { name: "StepFailure", message: /exit status 7/ });
    assert.deepEqual(await readdir(build.at("image")), []);
  });
  test("that floods the log has a bounded log that says so", async () => {
    const flood = "i=0; while [ $i -lt 20000 ]; do echo $i flood flood flood flood flood; i=$((i+1)); done";
    await using build = await withShell(`RUN ${flood}`);
    build.limits.logBytes = 100_000;
    await build.run(buildImage);
    assert.ok(build.lines.join("\n").length < 110_000);
    assert.ok(build.lines.includes("(the log is cut here: it has more than 100000 bytes)"));
  });
  test("that writes 1 GB of log leaves 32 MiB of it, and what it said last", async () => {
    const line = "x".repeat(99);
    await using build = await withShell(
      `RUN yes ${line} | head -c 1000000000; echo; echo the end >&2; exit 1`,
    );
    await assert.rejects(build.run(buildImage), { name: "StepFailure" });
    const kept = build.lines.reduce((sum, one) => sum + one.length + 1, 0);
    assert.ok(kept > 30 << 20 && kept < 33 << 20, `${kept} bytes`);
    const omitted = build.lines.map((one) => /^\((\d+) lines are omitted/.exec(one)?.[1]).find(Boolean);
    assert.ok(Number(omitted) > 9_000_000, omitted);
    assert.deepEqual(await readdir(build.at("image")), []);
  });
  test("that fills the disk is stopped before it is full", async () => {
    await using build = await withShell("RUN echo begun; yes >/filling; :");
    const { bavail, bsize, blocks } = await statfs(build.at("tmp"));
    // A gigabyte less than now, not nearly all of the disk of this machine.
    build.limits = { keepFree: (bavail - 1e9 / bsize) / blocks, diskCheckMs: 50 };
    await assert.rejects(build.run(buildImage), { name: "StepFailure", message: /of its disk free/ });
    await until(async () => (await processesIn(build.at())).length === 0);
    assert.deepEqual(await readdir(build.at("image")), []);
  });
  for (const [what, run] of Object.entries({
    "runs for ever": "RUN echo begun; sleep 600; :",
    "leaves processes behind and waits": "RUN echo begun; (sleep 600; :) & wait",
  }))
    test(`that ${what} ends with the build, and with it all its processes`, async () => {
      await using build = await withShell(run);
      const running = build.run(buildImage);
      await until(() => build.lines.includes("begun"), 60_000);
      build.stop(new Error("the build was stopped"));
      await assert.rejects(running, /the build was stopped/);
      await until(async () => (await processesIn(build.at())).length === 0);
      assert.deepEqual(await readdir(build.at("image")), []);
    });
  test("that forks without end is stopped, and with it all its processes", async () => {
    await using build = await withShell("RUN fork() { sleep 600 & fork; }; fork");
    build.limits = { processes: 60, diskCheckMs: 50 };
    await assert.rejects(build.run(buildImage), {
      name: "StepFailure",
      message: "the build runs more than 60 processes at once",
    });
    await until(async () => (await processesIn(build.at())).length === 0);
    assert.deepEqual(await readdir(build.at("image")), []);
  });
});

/** Processes whose root, working folder or arguments are below this folder. */
async function processesIn(folder: string): Promise<string[]> {
  const { readlink, readFile } = await import("node:fs/promises");
  const found: string[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const facts = await Promise.all([
      readlink(`/proc/${pid}/root`).catch(() => ""),
      readlink(`/proc/${pid}/cwd`).catch(() => ""),
      readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    ]);
    if (facts.some((fact) => fact.includes(folder))) found.push(pid);
  }
  return found;
}
