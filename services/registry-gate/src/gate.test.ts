import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { defaultCacheDirs, findDockerRegistry } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { createLogger } from "@svc/telemetry";
import { runCollection } from "./collect/run.ts";
import { digestOf, type Fixture, passwords, pushBlob, startFixture } from "./testing/fixture.ts";

const repo = resolve(import.meta.dirname, "../../..");
let binary = "";
let gate: Fixture;

before(async () => {
  const cacheDirs = defaultCacheDirs(process.env, repo);
  binary = await findDockerRegistry({ env: process.env, cacheDirs, progress: () => undefined });
  gate = await startFixture(binary);
});
after(async () => {
  await gate?.stop();
});

describe("in front of a docker-registry", () => {
  test("clients are challenged at the base and pull without a password", async () => {
    const anonymous = await gate.call("GET", "/v2/");
    assert.equal(anonymous.status, 401);
    assert.match(String(anonymous.headers["www-authenticate"]), /^Basic realm="/);
    assert.equal((await gate.call("GET", "/v2/", { as: "build" })).status, 200);
    assert.equal((await gate.call("GET", "/v2/", { as: "nobody" })).status, 401);
    const { digest, layer } = await gate.push("packs/one", "1");
    const manifest = await gate.call("GET", "/v2/packs/one/manifests/1");
    assert.equal(digestOf(manifest.text), digest);
    assert.equal(manifest.headers["docker-content-digest"], digest);
    const part = await gate.call("GET", `/v2/packs/one/blobs/${layer}`, { headers: { range: "bytes=0-4" } });
    assert.deepEqual([part.status, part.text], [206, "layer"]);
    const catalog = await gate.call("GET", "/v2/_catalog?n=1");
    assert.deepEqual(JSON.parse(catalog.text), { repositories: ["packs/one"] });
  });
  test("build pushes packs and neither into reserved repositories nor deletes", async () => {
    const { digest } = await gate.push("packs/two", "1", "build");
    await assert.rejects(gate.push("svc/x", "1", "build"), /answered 403/);
    assert.equal(
      (await gate.call("DELETE", `/v2/packs/two/manifests/${digest}`, { as: "build" })).status,
      403,
    );
    assert.equal(
      (await gate.call("DELETE", `/v2/packs/two/manifests/${digest}`, { as: "prune" })).status,
      202,
    );
    assert.equal((await gate.call("GET", "/v2/packs/two/manifests/1")).status, 404);
  });
  test("a reader learns when a manifest was pushed, and it is deleted only if that was not since", async () => {
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    const { digest } = await gate.push("packs/timed", "1", "build");
    const read = await gate.call("HEAD", "/v2/packs/timed/manifests/1");
    const pushedAt = Date.parse(String(read.headers["last-modified"]));
    assert.ok(pushedAt >= before && pushedAt <= Date.now() + 1_000);
    const remove = (since: number) =>
      gate.call("DELETE", `/v2/packs/timed/manifests/${digest}`, {
        as: "prune",
        headers: { "if-unmodified-since": new Date(since).toUTCString() },
      });
    assert.equal((await remove(pushedAt - 1_000)).status, 412);
    await gate.restart();
    assert.equal((await remove(pushedAt - 1_000)).status, 412);
    assert.equal((await remove(Number.NaN)).status, 412);
    assert.equal((await remove(pushedAt)).status, 202);
  });
  test("an upload belongs to its repository", async () => {
    const started = await gate.call("POST", "/v2/packs/three/blobs/uploads/", { as: "build" });
    const location = String(started.headers["location"]);
    assert.match(location, /^\/v2\/packs\/three\/blobs\/uploads\//);
    const elsewhere = location.replace("packs/three", "packs/four");
    assert.ok((await gate.call("PATCH", elsewhere, { as: "build", body: "x" })).status >= 400);
    const reserved = location.replace("packs/three", "svc/three");
    assert.equal((await gate.call("PATCH", reserved, { as: "build", body: "x" })).status, 403);
    assert.equal((await gate.call("PATCH", location, { as: "build", body: "x" })).status, 202);
  });
  test("blobs are mounted between packs; of a reserved repository build is given an upload", async () => {
    const blob = await pushBlob(gate.call, { repository: "svc/base", as: "platform", body: "base layer" });
    await pushBlob(gate.call, { repository: "packs/five", as: "build", body: "own layer" });
    const mount = (digest: string, from: string, as: "build" | "platform") =>
      gate.call("POST", `/v2/packs/six/blobs/uploads/?mount=${encodeURIComponent(digest)}&from=${from}`, {
        as,
      });
    assert.equal((await mount(digestOf("own layer"), "packs/five", "build")).status, 201);
    assert.equal((await mount(blob, "svc/base", "build")).status, 202);
    assert.equal((await mount(blob, "svc/base", "platform")).status, 201);
  });
  test("parameters in a form are none: the registry would read them, and the gate would not", async () => {
    const base = digestOf("base layer");
    const part = (name: string, value: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const forms = {
      "application/x-www-form-urlencoded": `mount=${encodeURIComponent(base)}&from=svc/base`,
      "multipart/form-data; boundary=x": `${part("mount", base)}${part("from", "svc/base")}--x--\r\n`,
    };
    for (const [type, body] of Object.entries(forms)) {
      const headers = { "content-type": type };
      const started = await gate.call("POST", "/v2/packs/form/blobs/uploads/", {
        as: "build",
        headers,
        body,
      });
      assert.equal(started.status, 202, type);
      assert.equal((await gate.call("HEAD", `/v2/packs/form/blobs/${base}`)).status, 404, type);
    }
  });
  test("a blob with a wrong digest is refused by the registry and not kept", async () => {
    const started = await gate.call("POST", "/v2/packs/seven/blobs/uploads/", { as: "build" });
    const wrong = `sha256:${"0".repeat(64)}`;
    const end = `${started.headers["location"]}&digest=${wrong}`;
    const done = await gate.call("PUT", end, { as: "build", body: "something" });
    assert.equal(done.status, 400);
    assert.equal((await gate.call("HEAD", `/v2/packs/seven/blobs/${wrong}`)).status, 404);
  });
  test("another path than those of the protocol never reaches the registry", async () => {
    for (const path of ["/", "/debug/vars", "/metrics", "/v2/packs/one/manifests/%31"]) {
      assert.equal((await gate.call("GET", path)).status, 404, path);
    }
    assert.match(await raw(`GET /v2/a/../svc/x/manifests/1 HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 404 /);
  });
  test("a request whose length can be read in two ways is refused", async () => {
    const head = `PUT /v2/packs/one/manifests/9 HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${Buffer.from(`build:${passwords.build}`).toString("base64")}\r\n`;
    const smuggled = "DELETE /v2/packs/one/manifests/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const lengths of [
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 4\r\nContent-Length: 5\r\n",
      "Transfer-Encoding: identity, chunked , x\r\n",
      "Transfer-Encoding : chunked\r\n",
    ]) {
      const answer = await raw(`${head}${lengths}\r\n0\r\n\r\n${smuggled}`);
      assert.match(answer, /^HTTP\/1\.1 400 /, lengths);
      assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, lengths);
    }
    assert.equal((await gate.call("GET", "/v2/packs/one/manifests/9")).status, 404);
    assert.equal(
      (await gate.call("DELETE", `/v2/packs/one/blobs/${digestOf("x")}`, { as: "prune", body: "x" })).status,
      400,
    );
  });
  test("passwords that change are in force at once, without a file nobody writes", async () => {
    renameSync(gate.credentials, `${gate.credentials}.away`);
    assert.equal((await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" })).status, 403);
    assert.equal((await gate.call("GET", "/v2/packs/one/manifests/1")).status, 200);
    writeFileSync(gate.credentials, `platform:${passwords.build}\n`);
    assert.equal((await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" })).status, 401);
    renameSync(`${gate.credentials}.away`, gate.credentials);
    assert.equal((await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" })).status, 202);
  });
  test("a registry that is down is 503 with the seconds, and is used again when it is back", async () => {
    await gate.stopUpstream();
    const down = await gate.call("GET", "/v2/packs/one/manifests/1");
    assert.deepEqual([down.status, down.headers["retry-after"]], [503, "5"]);
    assert.equal((await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" })).status, 503);
    await gate.startUpstream();
    assert.equal((await gate.call("GET", "/v2/packs/one/manifests/1")).status, 200);
  });
});

describe("the lease", () => {
  test("it is given to prune alone, and while it lasts writes are 503 over a restart", async () => {
    assert.equal((await gate.lease("POST", "/gate/lease", "build")).status, 401);
    const given = await gate.lease("POST");
    assert.equal(given.status, 201);
    const { id } = JSON.parse(given.text);
    assert.equal((await gate.lease("POST")).status, 409);
    await gate.restart();
    const refused = await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" });
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "30"]);
    assert.equal((await gate.call("GET", "/v2/packs/one/manifests/1")).status, 200);
    assert.equal((await gate.lease("PUT", `/gate/lease/${id}`)).status, 200);
    assert.equal((await gate.lease("DELETE", `/gate/lease/${id}`)).status, 200);
    assert.equal((await gate.call("POST", "/v2/packs/one/blobs/uploads/", { as: "build" })).status, 202);
  });
  test("a registry to which nothing was ever pushed has no garbage, one that is gone is a failure", async () => {
    const empty = await startFixture(binary);
    const log = createLogger("registry-gate", "silent");
    const { signal } = new AbortController();
    assert.equal(await runCollection(empty.config(), log, signal), 0);
    rmSync(empty.data, { recursive: true });
    writeFileSync(empty.data, "");
    assert.equal(await runCollection(empty.config(), log, signal), 1);
    assert.equal((await empty.lease("GET")).text, '{"read_only":false}');
    await empty.stop();
  });
  test("a collection deletes what nothing names and loses no blob of what was pushed meanwhile", async () => {
    const kept = await gate.push("packs/kept", "1");
    const loose = await pushBlob(gate.call, {
      repository: "packs/kept",
      as: "platform",
      body: "named by nothing",
    });
    const log = createLogger("registry-gate", "silent");
    const collecting = { isOver: false };
    const pushes: { repository: string; digest: string; layer: string }[] = [];
    const pushing = (async () => {
      for (let count = 0; !collecting.isOver; count++) {
        const repository = `packs/during-${count}`;
        const result = await gate.push(repository, "1", "build").catch(() => undefined);
        if (result) pushes.push({ repository, ...result });
      }
    })();
    await until(() => pushes.length > 2, 60_000);
    const before = pushes.length;
    // Pauses between two pushes are short, so the lease is tried again and again.
    await until(async () => {
      const config = gate.config();
      return (
        (await runCollection(
          { ...config, collect: { ...config.collect, waitMs: 0 } },
          log,
          new AbortController().signal,
        )) === 0
      );
    }, 60_000);
    await until(() => pushes.length > before, 60_000);
    collecting.isOver = true;
    await pushing;
    assert.equal((await gate.call("HEAD", `/v2/packs/kept/blobs/${loose}`)).status, 404);
    for (const { repository, digest, layer } of [{ repository: "packs/kept", ...kept }, ...pushes]) {
      assert.equal((await gate.call("HEAD", `/v2/${repository}/manifests/${digest}`)).status, 200);
      assert.equal((await gate.call("HEAD", `/v2/${repository}/blobs/${layer}`)).status, 200);
    }
  });
});

describe("a registry that misbehaves", () => {
  let server: Server;
  let fixture: Fixture;
  let endless: Socket | undefined;
  const answers: Record<string, (write: (bytes: string | Buffer) => void, end: () => void) => void> = {
    "/v2/a/manifests/away": (write, end) => {
      write("HTTP/1.1 307 x\r\nLocation: http://169.254.169.254/v2/x\r\nContent-Length: 0\r\n\r\n");
      end();
    },
    "/v2/a/manifests/cut": (write, end) => {
      write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      end();
    },
    "/v2/a/manifests/silent": () => undefined,
    "/v2/a/manifests/endless": (write) => {
      write("HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n");
      for (let count = 0; count < 200; count++) write(megabyte);
    },
    "/v2/a/manifests/cookie": (write, end) => {
      write("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nServer: x\r\nContent-Length: 2\r\n\r\nok");
      end();
    },
  };
  before(async () => {
    server = createServer((incoming) => {
      const { socket } = incoming;
      if (incoming.url?.endsWith("endless")) endless = socket;
      answers[incoming.url ?? ""]?.(
        (bytes) => void socket.write(bytes),
        () => void socket.end(),
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const port = (server.address() as AddressInfo).port;
    fixture = await startFixture(binary, {
      SVC_REGISTRY_GATE_UPSTREAM: `http://127.0.0.1:${port}`,
      SVC_REGISTRY_GATE_IDLE_SECONDS: "2",
    });
  });
  after(async () => {
    await fixture.stop();
    server.closeAllConnections();
    server.close();
  });
  test("a redirect to another server is 502 and is not passed on", async () => {
    const answer = await fixture.call("GET", "/v2/a/manifests/away");
    assert.deepEqual([answer.status, answer.headers["location"]], [502, undefined]);
  });
  test("an answer that is cut never looks whole", async () => {
    await assert.rejects(fixture.call("GET", "/v2/a/manifests/cut"));
  });
  test("silence is 503", async () => {
    assert.equal((await fixture.call("GET", "/v2/a/manifests/silent")).status, 503);
  });
  test("a client that does not read holds the registry back, and a registry that does not read the client", async () => {
    const client = connect(Number(fixture.host().split(":")[1]), "127.0.0.1");
    client.pause();
    client.write("GET /v2/a/manifests/endless HTTP/1.1\r\nHost: x\r\n\r\n");
    const sender = await until(() => endless);
    await stands(() => sender.bytesWritten - sender.writableLength);
    const started = connect(Number(fixture.host().split(":")[1]), "127.0.0.1");
    const authorization = Buffer.from(`build:${passwords.build}`).toString("base64");
    started.write(
      `PATCH /v2/a/blobs/uploads/x HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${authorization}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let count = 0; count < 200; count++) {
      started.write(`100000\r\n`);
      started.write(megabyte);
      started.write("\r\n");
    }
    await stands(() => started.bytesWritten - started.writableLength);
    for (const socket of [client, started]) socket.on("error", () => undefined).destroy();
  });
  test("headers that are not of the protocol are dropped", async () => {
    const { headers } = await fixture.call("GET", "/v2/a/manifests/cookie");
    assert.equal(headers["set-cookie"], undefined);
    assert.equal(headers["server"], undefined);
  });
});

describe("bytes on their way", () => {
  test("an upload that breaks off is not taken for a whole one, and its place is free again", async () => {
    const started = await gate.call("POST", "/v2/packs/broken/blobs/uploads/", { as: "build" });
    const location = String(started.headers["location"]);
    const authorization = Buffer.from(`build:${passwords.build}`).toString("base64");
    const digest = digestOf("12345");
    const socket = connect(Number(gate.host().split(":")[1]), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      `PUT ${location}&digest=${digest} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${authorization}\r\nContent-Length: 10\r\n\r\n12345`,
    );
    await once(socket, "ready");
    socket.destroy();
    // A lease is only given once no write is under way.
    const id = await until(async () => {
      const given = await gate.lease("POST");
      return given.status === 201 && (JSON.parse(given.text).id as string);
    });
    assert.equal((await gate.call("HEAD", `/v2/packs/broken/blobs/${digest}`)).status, 404);
    await gate.lease("DELETE", `/gate/lease/${id}`);
  });
  test("64 MB go up and down", async () => {
    const digest = digestOf(Buffer.concat(Array.from({ length: 64 }, () => megabyte)));
    const started = await gate.call("POST", "/v2/packs/large/blobs/uploads/", { as: "build" });
    const end = `${started.headers["location"]}&digest=${digest}`;
    const done = await gate.call("PUT", end, { as: "build", body: megabytes(64) });
    assert.equal(done.status, 201, done.text);
    const answer = await fetch(`http://${gate.host()}/v2/packs/large/blobs/${digest}`);
    assert.equal((await answer.bytes()).length, 64 * megabyte.length);
  });
});

const megabyte = Buffer.alloc(1024 * 1024, 7);

async function* megabytes(count: number) {
  for (let index = 0; index < count; index++) yield megabyte;
}

/** Waits until a number of bytes has not grown for a while, and checks that this was long before the end. */
async function stands(bytes: () => number): Promise<void> {
  let last = -1;
  let since = Date.now();
  await until(() => {
    if (bytes() !== last) since = Date.now();
    last = bytes();
    return last > 0 && Date.now() - since > 300;
  });
  assert.ok(last < 32 * megabyte.length, `${last} bytes were taken`);
}

/** The whole answer to bytes that no client would send. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(gate.host().split(":")[1]), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => {
    answer += part;
  });
  socket.on("error", () => undefined);
  socket.write(text);
  // A kept connection is ended once it has answered.
  await Promise.race([once(socket, "end"), until(() => /^HTTP\/1\.1 404/.test(answer))]);
  socket.destroy();
  return answer;
}
