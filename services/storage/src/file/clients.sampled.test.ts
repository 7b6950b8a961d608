// Careless and hostile clients of byte transfers, over two gateways of each face and two replicas: nothing incomplete is
// kept, nothing stays reserved, and a truncated download never looks complete.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import type { exports, uploads } from "@svc/proto";
import { isJobFinished } from "@svc/world-lock";
import {
  type Answer,
  type Ask,
  askFace,
  contentDigest,
  cookie,
  type FaceFixture,
  openFaceFixture,
} from "../testing/face-fixture.ts";
import type { Replica } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";

const base = "/api/v1/servers/survival";
type Session = uploads.FileUploadSession;

// Takes minutes on two cores: CI runs the whole tables.
describe("clients of byte transfers", { skip: isWhole ? false : "runs with npm test -- --whole" }, () => {
  let fixture: FaceFixture;
  const replicas: Replica[] = [];
  // More than the socket buffers hold: a stalled reader would otherwise be sent all of it.
  const region = randomBytes(40_000_000);
  before(async () => {
    fixture = await openFaceFixture({ count: 3, stallMs: 500 });
    const quick = ["storage.transfer_stall=5s", "storage.export_hourly=1000", "storage.download_hourly=1000"];
    quick.push("storage.export_sweep=200ms", "storage.download_per_user=10", "storage.download_platform=10");
    for (let n = 0; n < 2; n++) replicas.push(await fixture.start(quick));
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
    writeFileSync(inWorld("r.0.0.mca"), region);
  });
  after(() => fixture?.close());

  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  let turn = 0;
  // The last one is for stalled clients.
  const nextUrl = () => fixture.externalUrls[turn++ % 2] ?? "";
  /** Each request goes to the next gateway. */
  const ask = (path: string, about: Ask = {}): Promise<Answer> => askFace(nextUrl(), path, about);
  const toldBy = ({ status, body }: Answer) =>
    `${status} ${(body["error"] as { code?: string } | undefined)?.code ?? ""}`.trim();

  describe("of uploads", () => {
    let id = "";
    const place = () => `${base}/files/uploads/${id}`;
    const begin = async (size: number) => {
      const { status, body } = await ask(`${base}/files/uploads?path=new.bin`, {
        method: "POST",
        json: { size },
      });
      assert.equal(status, 201, JSON.stringify(body));
      id = (body as Session).id;
    };
    const put = async (offset: number, bytes: Uint8Array, headers: Record<string, string> = {}) =>
      toldBy(await ask(`${place()}?offset=${offset}`, { method: "PUT", bytes, headers }));
    const received = async () => ((await ask(place())).body as Session).received;
    const kept = () => readdirSync(join(fixture.stagingDir, id)).length;
    afterEach(async () => {
      await until(async () => [204, 404].includes((await ask(place(), { method: "DELETE" })).status));
      await until(() => readdirSync(fixture.stagingDir).length === 0);
    });

    test("parts in any order, repeated or wrong, over any gateway and replica, make up the file or are rejected", async () => {
      const bytes = randomBytes(3_000_000);
      await begin(bytes.length);
      const part = (n: number) => bytes.subarray(n * 1_000_000, (n + 1) * 1_000_000);
      const mismatch = "409 upload_offset_mismatch";
      for (let n = 0; n < 3; n++) {
        for (const early of [2, 1].filter((one) => one > n))
          assert.equal(await put(early * 1_000_000, part(early)), mismatch);
        const wrong = { "content-digest": contentDigest(part((n + 1) % 3)) };
        assert.equal(await put(n * 1_000_000, part(n), wrong), "400 digest_mismatch");
        assert.equal(await put(n * 1_000_000, part(n)), "200");
        assert.equal(await put(n * 1_000_000, part(n)), mismatch);
      }
      assert.equal(kept(), 3);
      const commit = await ask(`${place()}/commit`, { method: "POST", json: {} });
      assert.equal(commit.status, 202, JSON.stringify(commit.body));
      await until(async () => toldBy(await ask(place())) === "404 upload_not_found", 20_000);
      assert.ok(readFileSync(inWorld("new.bin")).equals(bytes));
    });

    test("of many concurrent writers each byte is taken from one", async () => {
      const bytes = randomBytes(3_000_000);
      await begin(bytes.length);
      for (let at = 0; at < bytes.length; at += 1_000_000) {
        const part = bytes.subarray(at, at + 1_000_000);
        const reported = await Promise.all(Array.from({ length: 6 }, () => put(at, part)));
        assert.equal(reported.filter((one) => one === "200").length, 1, reported.join());
        assert.ok(
          reported.every((one) => /^(200|409 upload_(busy|offset_mismatch))$/.test(one)),
          reported.join(),
        );
      }
      assert.deepEqual([await received(), kept()], [3_000_000, 3]);
    });

    /** A part sent over a raw socket, up to where the test stops. */
    async function open(length: number, digest: string, more = ""): Promise<Socket> {
      const { port, host } = new URL(nextUrl());
      const socket = connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
      socket.on("error", () => {});
      await once(socket, "connect");
      const head = [
        `PUT ${place()}?offset=0 HTTP/1.1`,
        `Host: ${host}`,
        `Cookie: ${cookie("usr-1")["cookie"]}`,
        "Content-Type: application/octet-stream",
        `Content-Length: ${length}`,
        `Content-Digest: ${digest}`,
      ];
      socket.write(`${head.join("\r\n")}\r\n${more}\r\n`);
      return socket;
    }
    async function answerOf(socket: Socket): Promise<string> {
      let text = "";
      const { promise: reported, resolve } = Promise.withResolvers<void>();
      socket.once("close", resolve);
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        const [head = "", body] = text.split("\r\n\r\n");
        if (body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1])) resolve();
      });
      await reported;
      socket.destroy();
      const [, status = "cut"] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
      return `${status} ${/"code":"([a-z_]+)"/.exec(text)?.[1] ?? ""}`.trim();
    }
    const bytes = randomBytes(400_000);

    const short: Record<string, { act: (socket: Socket) => void; reported: RegExp }> = {
      "ends its body too early gets an error": {
        act: (socket) => socket.end(),
        reported: /^400 upload_incomplete$/,
      },
      "stalls is cut off": { act: () => {}, reported: /^503 unavailable$/ },
      "disconnects loses its lease": { act: (socket) => socket.destroy(), reported: /^cut$/ },
    };
    for (const [name, { act, reported }] of Object.entries(short)) {
      for (const missing of [1, 200_000]) {
        const fact = `a client that ${name}, ${missing} bytes before the end, and the part can be sent again at once`;
        test(fact, async () => {
          await begin(bytes.length);
          const socket = await open(bytes.length, contentDigest(bytes));
          socket.write(bytes.subarray(0, bytes.length - missing));
          await until(() => readdirSync(fixture.stagingDir).includes(id) && kept() === 1);
          const answer = answerOf(socket);
          act(socket);
          assert.match(await answer, reported);
          await until(() => kept() === 0);
          assert.equal(await received(), 0);
          await until(async () => (await put(0, bytes)) === "200", 2_000);
        });
      }
    }
    test("a client that disconnects before the response finds the part accepted", async () => {
      await begin(bytes.length);
      const socket = await open(bytes.length, contentDigest(bytes));
      socket.write(bytes, () => socket.destroySoon());
      await until(async () => (await received()) === bytes.length);
      assert.equal(kept(), 1);
    });
    test("of a body longer than its Content-Length the part is accepted, and the rest is not parsed as a request", async () => {
      await begin(bytes.length);
      const socket = await open(bytes.length, contentDigest(bytes));
      socket.write(Buffer.concat([bytes, Buffer.from("GET / HTTP/9.9\r\n\r\n more of it")]));
      assert.match(await answerOf(socket), /^200/);
      assert.deepEqual([await received(), kept()], [bytes.length, 1]);
    });
    for (const lie of ["Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n"]) {
      test(`a request with a second body length (${lie.trim()}) is rejected`, async () => {
        await begin(bytes.length);
        const socket = await open(bytes.length, contentDigest(bytes), lie);
        assert.match(await answerOf(socket), /^400 bad_request$/);
        assert.equal(await received(), 0);
      });
    }
  });

  describe("of downloads", () => {
    const atRest = () =>
      until(async () => {
        const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
        return items.every(isJobFinished);
      }, 10_000);
    const stateOf = async (ticket: string) => {
      const answer = await ask(`/api/v1/exports/${ticket}`);
      return answer.status === 200 ? String(answer.body["state"]) : toldBy(answer);
    };
    const ready = async (path = "r.0.0.mca") => {
      const { status, body } = await ask(`${base}/files/download?path=${path}`, { method: "POST" });
      assert.equal(status, 202, JSON.stringify(body));
      const { ticket } = body as exports.ExportTicket;
      await until(async () => (await stateOf(ticket)) === "ready", 20_000);
      return ticket;
    };
    const placeOf = (ticket: string) => `/api/v1/exports/${ticket}/download`;
    afterEach(atRest);

    test("Job and browser may connect to any pair of replicas", async () => {
      const servedBy = async (subject: string) => {
        return Promise.all(replicas.map(async ({ registry }) => countIn(await registry.metrics(), subject)));
      };
      const seen = new Set<string>();
      for (let round = 0; seen.size < 4 && round < 60; round++) {
        const before = [await servedBy("receive"), await servedBy("download")];
        const ticket = await ready("level.dat");
        assert.equal((await ask(placeOf(ticket))).bytes.toString(), "one");
        await atRest();
        const after = [await servedBy("receive"), await servedBy("download")];
        seen.add(
          after
            .map((counts, n) => counts.findIndex((count, replica) => count > (before[n]?.[replica] ?? 0)))
            .join(),
        );
      }
      assert.deepEqual([...seen].sort(), ["0,0", "0,1", "1,0", "1,1"]);
    });

    test("of many concurrent range requests with one ticket one gets the whole body", async () => {
      const ticket = await ready();
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => ask(placeOf(ticket), { headers: { range: "bytes=5-10" } })),
      );
      const reported = answers.map(toldBy).sort();
      assert.deepEqual(reported, ["200", ...Array.from({ length: 5 }, () => "410 export_expired")]);
      assert.ok(answers.find(({ status }) => status === 200)?.bytes.equals(region));
    });

    /** Reads from a raw socket; returns how many bytes of the body arrived, and whether the response is complete. */
    async function readSome(ticket: string, act: (socket: Socket, got: number) => void, url = nextUrl()) {
      const { port, host } = new URL(url);
      const socket = connect({ host: "127.0.0.1", port: Number(port) });
      socket.on("error", () => {});
      const head = [
        `GET ${placeOf(ticket)} HTTP/1.1`,
        `Host: ${host}`,
        `Cookie: ${cookie("usr-1")["cookie"]}`,
      ];
      socket.write(`${head.join("\r\n")}\r\nConnection: close\r\n\r\n`);
      let got = 0;
      socket.on("data", (chunk: Buffer) => {
        got += chunk.length;
        act(socket, got);
      });
      await once(socket, "close");
      return got;
    }

    test("a client that stops reading is cut off, and everything that it held is released", async () => {
      const ticket = await ready();
      let isCut = false;
      const act = (socket: Socket) => {
        if (isCut) return;
        socket.pause();
        void until(() => isCut, 30_000).then(() => socket.resume());
      };
      const held = readSome(ticket, act, fixture.externalUrls.at(-1));
      await until(async () => (await stateOf(ticket)) === "410 export_expired");
      await atRest();
      isCut = true;
      assert.ok((await held) < region.length);
    });

    for (const [name, most] of [
      ["just before the last byte", region.length - 200_000] as const,
      ["in the middle", 2_000_000] as const,
    ]) {
      const fact = `a client that disconnects ${name} releases everything, and may download again with another ticket`;
      test(fact, async () => {
        const ticket = await ready();
        await readSome(ticket, (socket, got) => got > most && socket.destroy());
        await until(async () => (await stateOf(ticket)) === "410 export_expired");
        await atRest();
        assert.equal(toldBy(await ask(placeOf(ticket))), "410 export_expired");
        assert.ok((await ask(placeOf(await ready()))).bytes.equals(region));
      });
    }
  });
});

/** How many requests on downloads a replica has answered. */
function countIn(metrics: string, verb: string): number {
  const line = metrics
    .split("\n")
    .find(
      (one) =>
        one.startsWith("svc_mesh_served_total") &&
        one.includes(`storage.export.${verb}"`) &&
        one.includes('outcome="ok"'),
    );
  return Number(line?.split(" ").at(-1) ?? 0);
}
