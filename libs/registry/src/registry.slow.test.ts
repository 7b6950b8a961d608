import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { digestOf } from "./blob.ts";
import { isRegistryError } from "./error.ts";
import { mediaTypes, parseManifest } from "./manifest.ts";
import { listReferrers, putReferrer, referrersTag, subjectOfTag } from "./referrers.ts";
import { openRegistry, type Registry } from "./registry.ts";
import { startMemoryRegistry } from "./testing/memory-registry.ts";
import { findBinary, startTestRegistry } from "./testing/registry.ts";

const bytes = Buffer.from("a layer");
const blob = { digest: digestOf(bytes), size: bytes.length };
const otherDigest = `sha256:${"0".repeat(64)}`;
const open = () => Readable.from([bytes]);

async function whole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const peers = {
  "docker-registry": findBinary("docker-registry") === undefined ? undefined : startTestRegistry,
  "the registry of these tests": startMemoryRegistry,
};

for (const [name, start] of Object.entries(peers)) {
  describe(`with ${name}`, { skip: start ? false : `${name} is not on PATH` }, () => {
    let stop: () => Promise<void>;
    let host: string;
    let registry: Registry;
    before(async () => {
      if (!start) throw new Error("skipped");
      ({ host, stop } = await start());
      registry = openRegistry({ host, plainHttp: true });
    });
    after(() => stop());

    test("an image is stored, found by tag and by digest, listed and deleted", async () => {
      assert.equal(await registry.putBlob("packs/one", { ...blob, open }), true);
      assert.equal(await registry.putBlob("packs/one", { ...blob, open }), false);
      const descriptor = { mediaType: mediaTypes.layer, ...blob };
      const manifest = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: mediaTypes.manifest,
          config: { ...descriptor, mediaType: mediaTypes.config },
          layers: [descriptor],
        }),
      );
      const digest = await registry.putManifest("packs/one", "1", {
        mediaType: mediaTypes.manifest,
        bytes: manifest,
      });
      assert.equal(digest, digestOf(manifest));
      const head = { mediaType: mediaTypes.manifest, digest, size: manifest.length };
      assert.deepEqual(await registry.headManifest("packs/one", "1"), head);
      const got = await registry.getManifest("packs/one", digest);
      assert.deepEqual(got, { mediaType: mediaTypes.manifest, digest, bytes: manifest });
      assert.equal(got && parseManifest(got).kind, "image");
      assert.deepEqual(await whole(registry.getBlob("packs/one", blob)), bytes);
      assert.deepEqual(await registry.listTags("packs/one"), ["1"]);
      assert.deepEqual(await registry.listRepositories(), ["packs/one"]);
      assert.equal(await registry.deleteManifest("packs/one", digest), true);
      assert.equal(await registry.deleteManifest("packs/one", digest), false);
      assert.equal(await registry.getManifest("packs/one", "1"), undefined);
      assert.deepEqual(await registry.listTags("packs/one"), []);
    });
    test("a blob that another repository has is not sent again where the registry can mount it", async () => {
      await registry.putBlob("packs/first", { ...blob, open });
      const isMounting = name === "docker-registry";
      const from = (mountFrom: string, path: string) => registry.putBlob(path, { ...blob, open, mountFrom });
      assert.equal(await from("packs/first", "packs/second"), !isMounting);
      assert.equal(await from("packs/none", "packs/third"), true);
      for (const path of ["packs/second", "packs/third"])
        assert.equal(await registry.hasBlob(path, blob.digest), true, path);
    });
    test("what refers to an image is listed with it, each once, beside what others list", () =>
      refersTo(registry, [referrersTag(otherDigest)]));
    test("what is collected before its manifest comes is sent again", {
      skip: name !== "docker-registry" && "it takes manifests of blobs that it does not have",
    }, async () => {
      const path = "packs/collected";
      await registry.putBlob(path, { ...blob, open });
      const config = { mediaType: mediaTypes.config, ...blob };
      const image = Buffer.from(
        JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [] }),
      );
      const digest = await registry.putManifest(path, "1", { mediaType: mediaTypes.manifest, bytes: image });
      const content = Buffer.from("who built it");
      const said: string[] = [];
      const putManifest: Registry["putManifest"] = async (...given) => {
        if (said.length === 0)
          await fetch(`http://${host}/v2/${path}/blobs/${digestOf(content)}`, { method: "DELETE" });
        return registry.putManifest(...given).catch((error: Error) => {
          said.push(error.message);
          throw error;
        });
      };
      const subject = { mediaType: mediaTypes.manifest, digest, size: image.length };
      await putReferrer({ ...registry, putManifest }, { path, subject, artifactType: "text/plain", content });
      assert.equal(said.length, 1);
      assert.match(said[0] ?? "", /answered 400 to PUT .* \(MANIFEST_BLOB_UNKNOWN: blob unknown/);
      const listed = await listReferrers(registry, { path, digest });
      assert.deepEqual(
        listed.map(({ artifactType }) => artifactType),
        ["text/plain"],
      );
    });
    test("a manifest is stored while others send the blobs that it names", {
      skip: name !== "docker-registry" && "it has no links",
    }, async () => {
      const path = "packs/shared";
      await registry.putBlob(path, { ...blob, open });
      const send = async () => {
        const begun = await fetch(`http://${host}/v2/${path}/blobs/uploads/`, { method: "POST" });
        const place = `${begun.headers.get("location")}&digest=${blob.digest}`;
        await fetch(place, { method: "PUT", body: bytes });
      };
      let isOver = false;
      const sending = [1, 2].map(async () => {
        while (!isOver) await send();
      });
      const config = { mediaType: mediaTypes.config, ...blob };
      const shape = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [] };
      // Without a repetition about one in nine is refused.
      for (let number = 0; number < 60; number += 1) {
        const image = Buffer.from(JSON.stringify({ ...shape, annotations: { number: `${number}` } }));
        await registry.putManifest(path, "1", { mediaType: mediaTypes.manifest, bytes: image });
      }
      isOver = true;
      await Promise.all(sending);
    });
    test("what is not there is undefined, none or false", async () => {
      assert.equal(await registry.headManifest("packs/none", "1"), undefined);
      assert.equal(await registry.getManifest("packs/none", otherDigest), undefined);
      assert.equal(await registry.hasBlob("packs/none", otherDigest), false);
      assert.deepEqual(await registry.listTags("packs/none"), []);
    });
    test("a blob that is not what its digest says is refused by the registry", async () => {
      const put = registry.putBlob("packs/two", { digest: otherDigest, size: bytes.length, open });
      await assert.rejects(put, (error) => isRegistryError(error, "rejected"));
    });
    test("names that come in pages are all listed", async () => {
      const names = Array.from({ length: 51 }, (_, index) => `t${String(index).padStart(4, "0")}`);
      const manifest = {
        mediaType: mediaTypes.index,
        bytes: Buffer.from('{"schemaVersion":2,"manifests":[]}'),
      };
      await Promise.all(names.map((tag) => registry.putManifest("packs/many", tag, manifest)));
      const inPages = openRegistry({ host, plainHttp: true, pageEntries: 50 });
      assert.deepEqual(await inPages.listTags("packs/many"), names);
    });
  });
}

test("a registry with the referrers API lists what refers to an image by itself", async () => {
  const { host, stop } = await startMemoryRegistry({ hasReferrers: true });
  await refersTo(openRegistry({ host, plainHttp: true }), []).finally(stop);
});

async function refersTo(registry: Registry, tags: string[]): Promise<void> {
  const path = "packs/three";
  const subject = { mediaType: mediaTypes.manifest, digest: otherDigest, size: 7 };
  const put = (text: string) => {
    const content = Buffer.from(text);
    return putReferrer(registry, { path, subject, artifactType: "text/plain", content });
  };
  assert.deepEqual(await listReferrers(registry, { path, digest: otherDigest }), []);
  const first = await put("one");
  assert.equal(await put("one"), first);
  const second = await put("two");
  const listed = await listReferrers(registry, { path, digest: otherDigest });
  assert.deepEqual(listed.map(({ digest }) => digest).sort(), [first, second].sort());
  assert.deepEqual([...new Set(listed.map(({ artifactType }) => artifactType))], ["text/plain"]);
  const manifest = await registry.getManifest(path, first);
  assert.deepEqual(JSON.parse(manifest?.bytes.toString() ?? "").subject, subject);
  assert.deepEqual(await registry.listTags(path), tags);
  assert.deepEqual(
    tags.map(subjectOfTag),
    tags.map(() => otherDigest),
  );
}

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

async function against(reply: Reply, act: (registry: Registry) => Promise<unknown>): Promise<unknown> {
  const server = createServer(reply);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await act(openRegistry({ host, plainHttp: true, timeoutMs: 1_000 })).catch(
      (error: unknown) => error,
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const giving =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = ""): Reply =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : body);
  };
const get = (registry: Registry) => registry.getManifest("a", "1");
const pull = (registry: Registry) => whole(registry.getBlob("a", blob));
const push = (registry: Registry) => registry.putBlob("a", { ...blob, open });
const put = (registry: Registry) =>
  registry.putManifest("a", "1", { mediaType: mediaTypes.manifest, bytes: Buffer.from("{}") });
const list = (registry: Registry) => registry.listTags("a");
const uploads =
  (location: string): Reply =>
  (request, response) => {
    request.resume();
    if (request.method === "HEAD") response.writeHead(404).end();
    else response.writeHead(202, { location }).end();
  };

describe("a registry that misbehaves", () => {
  const cases: [string, Reply, (registry: Registry) => Promise<unknown>, kind: string, RegExp][] = [
    ["answers 500", giving(500), get, "unavailable", /answered 500 to GET \/v2\/a\/manifests\/1/],
    ["wants a password", giving(401), get, "denied", /answered 401/],
    ["forbids", giving(403), push, "denied", /answered 403/],
    ["redirects", giving(307, { location: "http://169.254.169.254/" }), pull, "malformed", /redirects/],
    ["never answers", () => undefined, get, "unavailable", /does not answer/],
    [
      "takes nothing",
      (request, response) => void (request.method === "HEAD" ? response.writeHead(404).end() : 0),
      push,
      "unavailable",
      /does not answer POST/,
    ],
    [
      "mounts another blob",
      (request, response) => {
        const status = request.method === "HEAD" ? 404 : 201;
        response.writeHead(status, { "docker-content-digest": otherDigest }).end();
      },
      (registry) => registry.putBlob("a", { ...blob, open, mountFrom: "b" }),
      "malformed",
      /stored sha256:0000/,
    ],
    [
      "names another digest",
      giving(200, { "docker-content-digest": otherDigest }, "{}"),
      get,
      "malformed",
      /named sha256:0000/,
    ],
    [
      "names an odd digest",
      giving(200, { "docker-content-digest": "sha256:../x" }),
      get,
      "malformed",
      /named the digest/,
    ],
    ["sends a manifest without end", giving(200, {}, Buffer.alloc(5 << 20)), get, "malformed", /more than/],
    ["sends another blob", giving(200, {}, "another"), pull, "malformed", /sent sha256:/],
    ["sends half a blob", giving(200, {}, "a"), pull, "malformed", /sent 1 of the 7 bytes/],
    ["sends too much", giving(200, {}, "a layer and more"), pull, "malformed", /more than the 7 bytes/],
    [
      "stops in a blob",
      (_, response) => void response.writeHead(200).write("a"),
      pull,
      "unavailable",
      /broke off a blob/,
    ],
    [
      "breaks in a blob",
      (_, response) => void response.writeHead(200).write("a", () => response.destroy()),
      pull,
      "unavailable",
      /broke off a blob/,
    ],
    ["sends an upload elsewhere", uploads("http://169.254.169.254/v2/a/x"), push, "malformed", /other hosts/],
    ["names no place for an upload", uploads("http://"), push, "malformed", /no address/],
    [
      "stores another manifest",
      giving(201, { "docker-content-digest": otherDigest }),
      put,
      "malformed",
      /named sha256:0000/,
    ],
    ["lists what is not a list", giving(200, {}, "[1"), list, "malformed", /invalid list/],
    [
      "lists the same page for ever",
      giving(200, { link: '</v2/a/tags/list?last=x&n=1>; rel="next"' }, '{"tags":["x"]}'),
      list,
      "malformed",
      /more than 1000 pages/,
    ],
  ];
  for (const [what, reply, act, kind, message] of cases) {
    test(`one that ${what} is ${kind}`, async () => {
      const error = await against(reply, act);
      assert.ok(isRegistryError(error), String(error));
      assert.equal(error.kind, kind, error.message);
      assert.match(error.message, message);
    });
  }
});

test("a blob comes whole to a reader who is slower than the longest wait", async () => {
  const large = randomBytes(4 << 20);
  const place = { digest: digestOf(large), size: large.length };
  const got = await against(giving(200, {}, large), async (registry) => {
    const parts: Buffer[] = [];
    for await (const part of registry.getBlob("a", place)) {
      if (parts.length === 0) await delay(1_500);
      parts.push(part);
    }
    return Buffer.concat(parts);
  });
  assert.ok(Buffer.isBuffer(got) && got.equals(large), String(got));
});

describe("a write", () => {
  test("fails with its source, whose reason it gives", async () => {
    async function* broken() {
      yield bytes.subarray(0, 3);
      throw new Error("the disk is gone");
    }
    let received = "";
    const reply: Reply = (request, response) => {
      if (request.method !== "PUT") return uploads("/v2/a/blobs/uploads/1")(request, response);
      request.on("data", (chunk) => (received += chunk)).on("error", () => {});
    };
    const error = await against(reply, (registry) =>
      registry.putBlob("a", { ...blob, open: () => Readable.from(broken()) }),
    );
    assert.ok(isRegistryError(error, "unavailable"), String(error));
    assert.match(error.message, /does not answer PUT .*: the disk is gone/);
    assert.ok(received.length <= 3);
  });
  test("is repeated while the registry is unavailable, and its credential goes along", async () => {
    const memory = await startMemoryRegistry();
    let refusals = 3;
    const seen = new Set<string | undefined>();
    const front = createServer((request, response) => {
      seen.add(request.headers.authorization);
      if (refusals-- > 0) return void giving(503, { "retry-after": "0" })(request, response);
      const { host } = memory;
      void fetch(`http://${host}${request.url}`, {
        method: request.method ?? "GET",
        headers: { "content-type": request.headers["content-type"] ?? "" },
        ...(request.method === "PUT" && { body: Readable.toWeb(request), duplex: "half" }),
      } as RequestInit).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
    const credential = { user: "build", password: "p:w" };
    const registry = openRegistry({ host, plainHttp: true, credential, retryForMs: 60_000 });
    assert.equal(await registry.putBlob("a", { ...blob, open }), true);
    assert.equal(await openRegistry({ host: memory.host, plainHttp: true }).hasBlob("a", blob.digest), true);
    assert.deepEqual([...seen], [`Basic ${Buffer.from("build:p:w").toString("base64")}`]);
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    await memory.stop();
  });
  test("ends with the caller's abort", async () => {
    const aborting = new AbortController();
    const reply: Reply = () => aborting.abort(new Error("stopped"));
    const error = await against(reply, (registry) =>
      registry.putBlob("a", { ...blob, open }, aborting.signal),
    );
    assert.equal((error as Error).message, "stopped");
  });
});

test("only an image or an index of images is a manifest", () => {
  const parse = (mediaType: string, text: string) => parseManifest({ mediaType, bytes: Buffer.from(text) });
  const index = '{"schemaVersion":2,"manifests":[]}';
  assert.equal(parse(mediaTypes.index, index).kind, "index");
  for (const [type, text] of [
    [mediaTypes.manifest, index],
    [mediaTypes.index, "{"],
    [mediaTypes.index, "null"],
    ["text/html", index],
    [mediaTypes.index, `{"mediaType":"${mediaTypes.manifest}","schemaVersion":2,"manifests":[]}`],
    [mediaTypes.index, `{"schemaVersion":2,"manifests":[{"mediaType":"x","digest":"sha256:..","size":1}]}`],
  ] as const)
    assert.throws(
      () => parse(type, text),
      (error) => isRegistryError(error, "malformed"),
      text,
    );
});
