import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { chunks, digestOf, isFault, signal } from "../testing/bodies.ts";
import { until } from "../testing.ts";
import { fetchBytes, sendBytes, streamBytes } from "./client.ts";
import { type ByteTransferServer, startByteTransferServer } from "./server.ts";

const log = createLogger("lifecycle", "silent");
let server: ByteTransferServer;

before(async () => {
  server = await startByteTransferServer({ host: "127.0.0.1", log });
});
after(() => server?.close());

test("a download delivers every byte and the headers of the ticket", async () => {
  const ticket = server.byteTransfers.download({
    headers: { "content-type": "application/zip" },
    source: () => chunks(50, 100_000),
  });
  const { headers, body } = await fetchBytes(ticket);
  assert.equal(headers["content-type"], "application/zip");
  assert.deepEqual(await digestOf(body), await digestOf(chunks(50, 100_000)));
});

for (const known of [true, false]) {
  const what = known ? "known" : "unknown";
  const count = 60;
  const ticketOf = (source: (signal: AbortSignal) => AsyncIterable<Uint8Array>, length = count * 100_000) =>
    server.byteTransfers.download({ headers: known ? { "Content-Length": `${length}` } : {}, source });

  test(`a streamed download of ${what} length delivers every byte once, one chunk at a time`, async () => {
    const { deliver } = await streamBytes(
      ticketOf(() => chunks(count, 100_000)),
      signal(),
    );
    const hash = createHash("sha256");
    let writing = 0;
    await deliver(async (chunk) => {
      writing += 1;
      assert.equal(writing, 1);
      // Its memory is ours until this resolves.
      await new Promise((settle) => setImmediate(settle));
      hash.update(chunk);
      writing -= 1;
    });
    assert.equal(hash.digest("hex"), (await digestOf(chunks(count, 100_000))).sha256);
  });
  test(`an empty streamed download of ${what} length delivers nothing`, async () => {
    const { deliver } = await streamBytes(
      ticketOf(() => chunks(0, 0), 0),
      signal(),
    );
    await deliver(() => assert.fail("there is no byte"));
  });
  test(`a streamed download of ${what} length that breaks is rejected`, async () => {
    const { deliver } = await streamBytes(
      ticketOf(async function* () {
        yield* chunks(3, 100_000);
        throw new Error("disk");
      }),
      signal(),
    );
    await assert.rejects(deliver(async () => {}));
  });
  test(`a streamed download of ${what} length ends with the writer and with the caller, and so does its source`, async () => {
    for (const isAbort of [true, false]) {
      const leaving = new AbortController();
      let isAborted = false;
      const endless = async function* (signal: AbortSignal) {
        signal.addEventListener("abort", () => {
          isAborted = true;
        });
        while (!signal.aborted) yield Buffer.alloc(100_000);
      };
      const { deliver } = await streamBytes(ticketOf(endless, 1e12), leaving.signal);
      const failing = async () => {
        if (!isAbort) throw new Error("the writer is gone");
        leaving.abort(new Error("the caller is gone"));
      };
      await assert.rejects(deliver(failing), isAbort ? /caller|aborted/ : /writer/);
      await until(() => isAborted);
    }
  });
  test(`a refused streamed download of ${what} length answers its fault`, async () => {
    const refused = ticketOf(() => {
      throw new Fault("not_found", { message: "The backup is gone." });
    });
    await assert.rejects(streamBytes(refused, signal()), isFault("not_found"));
    await assert.rejects(streamBytes(refused, signal()), isFault("forbidden"));
    await assert.rejects(
      streamBytes({ ...refused, url: "http://127.0.0.1:1/lanes/x" }, signal()),
      isFault("unavailable"),
    );
  });
}

test("an empty download is an empty body", async () => {
  const { body } = await fetchBytes(
    server.byteTransfers.download({ headers: {}, source: () => chunks(0, 0) }),
  );
  assert.equal((await digestOf(body)).bytes, 0);
});

test("a token works once, also for concurrent requests", async () => {
  const ticket = server.byteTransfers.download({ headers: {}, source: () => chunks(1, 10) });
  const outcomes = await Promise.allSettled([fetchBytes(ticket), fetchBytes(ticket), fetchBytes(ticket)]);
  const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  assert.equal(won.length, 1);
  await won[0]?.body.resume();
  await assert.rejects(fetchBytes(ticket), isFault("forbidden"));
});

test("a wrong token is rejected and does not use up the ticket", async () => {
  const ticket = server.byteTransfers.download({ headers: {}, source: () => chunks(1, 10) });
  const wrong = { ...ticket, token: randomBytes(32).toString("base64url") };
  await assert.rejects(fetchBytes(wrong), isFault("forbidden"));
  await assert.rejects(sendBytes(ticket, Readable.from([]), {}), isFault("forbidden"));
  assert.equal((await digestOf((await fetchBytes(ticket)).body)).bytes, 10);
});

test("a ticket that nobody uses expires", async () => {
  const ticket = server.byteTransfers.download({ headers: {}, source: () => chunks(1, 10), ttlMs: 1 });
  // Timers of one length fire in the order in which they were set, and asking with its token would use it.
  await delay(1);
  await assert.rejects(fetchBytes(ticket), isFault("forbidden"));
});

test("a source that fails before the first byte answers its fault", async () => {
  const ticket = server.byteTransfers.download({
    headers: {},
    // biome-ignore lint/correctness/useYield: the failure precedes the first byte
    source: async function* () {
      throw new Fault("not_found", { message: "The backup is gone." });
    },
  });
  await assert.rejects(fetchBytes(ticket), (error: Error) => {
    assert.equal((error as Fault).fault, "not_found");
    assert.equal(error.message, "The backup is gone.");
    return true;
  });
});

test("a source that fails midway breaks the body, so that nobody takes a part for the whole", async () => {
  const ticket = server.byteTransfers.download({
    headers: {},
    source: async function* () {
      yield* chunks(3, 100_000);
      throw new Error("disk");
    },
  });
  const { body } = await fetchBytes(ticket);
  await assert.rejects(digestOf(body));
});

test("a reader that goes away aborts the source", async () => {
  let aborted = false;
  const ticket = server.byteTransfers.download({
    headers: {},
    source: async function* (signal) {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      for (let n = 0; n < 100_000 && !signal.aborted; n++) yield Buffer.alloc(100_000);
    },
  });
  const { body } = await fetchBytes(ticket);
  body.once("error", () => {});
  body.destroy();
  await until(() => aborted);
});

test("a slow reader slows down the source", async () => {
  let made = 0;
  const ticket = server.byteTransfers.download({
    headers: {},
    source: async function* () {
      for (; made < 2_000; made++) yield Buffer.alloc(100_000);
    },
  });
  const { body } = await fetchBytes(ticket);
  let before = -1;
  // It stops growing when all buffers are full.
  await until(async () => {
    const isSteady = made > 0 && made === before;
    before = made;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return isSteady;
  });
  assert.ok(made < 400, `${made} chunks of 100 kB were made for a reader that reads nothing`);
  assert.equal((await digestOf(body)).bytes, 200_000_000);
});

test("an owner that is gone makes a byte transfer unavailable", async () => {
  const gone = await startByteTransferServer({ host: "127.0.0.1", log });
  const ticket = gone.byteTransfers.download({ headers: {}, source: () => chunks(1, 1) });
  await gone.close();
  await assert.rejects(fetchBytes(ticket), isFault("unavailable"));
  await assert.rejects(sendBytes(ticket, Readable.from(["x"]), {}), isFault("unavailable"));
});
