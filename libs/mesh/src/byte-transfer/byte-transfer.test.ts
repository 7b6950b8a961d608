import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { Fault } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { until } from "../testing.ts";
import { fetchBytes, sendBytes, streamBytes } from "./client.ts";
import { type ByteTransferServer, startByteTransferServer } from "./server.ts";

const log = createLogger("lifecycle", "silent");
let server: ByteTransferServer;

before(async () => {
  server = await startByteTransferServer({ host: "127.0.0.1", log });
});
after(() => server?.close());

async function* chunks(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(bytes, n);
}

async function digestOf(source: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    hash.update(chunk);
  }
  return { bytes, sha256: hash.digest("hex") };
}

const signal = () => new AbortController().signal;

const isFault = (name: string) => (error: unknown) => {
  assert.equal((error as { fault: string }).fault, name);
  return true;
};

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
  await until(async () => {
    const again = await fetchBytes({ ...ticket, token: "x" }).catch((error) => error);
    return (again as Fault).fault === "forbidden";
  });
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

test("an upload arrives complete and its result is the answer", async () => {
  const ticket = server.byteTransfers.upload({
    receive: async (body, about) => ({ ...(await digestOf(body)), ...about }),
  });
  const head = { contentLength: 5_000_000, contentDigest: "sha-256=:x:" };
  const answer = await sendBytes(ticket, Readable.from(chunks(50, 100_000)), head);
  assert.deepEqual(answer, { ...(await digestOf(chunks(50, 100_000))), ...head });
});

test("an upload of unknown length arrives complete", async () => {
  const ticket = server.byteTransfers.upload({ receive: (body) => digestOf(body) });
  const answer = await sendBytes(ticket, Readable.from(chunks(5, 10)), {});
  assert.equal((answer as { bytes: number }).bytes, 50);
});

test("the digest in the trailers is available once the body has ended", async () => {
  const seen: (string | undefined)[] = [];
  const ticket = server.byteTransfers.upload({
    receive: async (body, { contentLength, trailerDigest }) => {
      seen.push(trailerDigest());
      const { bytes } = await digestOf(body);
      seen.push(trailerDigest());
      return { bytes, contentLength: contentLength ?? "none" };
    },
  });
  const head = { trailerDigest: () => "sha-256=:end:" };
  const answer = await sendBytes(ticket, Readable.from(chunks(40, 100_000)), head);
  assert.deepEqual(answer, { bytes: 4_000_000, contentLength: "none" });
  assert.deepEqual(seen, [undefined, "sha-256=:end:"]);
});

for (const contentLength of [undefined, 4_000_000]) {
  const kind = contentLength === undefined ? "unknown" : "declared";
  test(`a body of ${kind} length that fails midway fails at the owner, and its fault is reported`, async () => {
    let outcome = "";
    const ticket = server.byteTransfers.upload({
      receive: async (body) => {
        outcome = await digestOf(body).then(
          () => "whole",
          () => "broken",
        );
      },
    });
    const body = async function* () {
      yield* chunks(3, 100_000);
      throw new Fault("too_large");
    };
    await assert.rejects(sendBytes(ticket, body(), { contentLength }), isFault("too_large"));
    await until(() => outcome !== "");
    assert.equal(outcome, "broken");
  });
  test(`a body of ${kind} length waits for an owner that is not reading yet`, async () => {
    let made = 0;
    const { promise: mayRead, resolve: startReading } = Promise.withResolvers<void>();
    const ticket = server.byteTransfers.upload({
      receive: async (body) => {
        await mayRead;
        return digestOf(body);
      },
    });
    const body = async function* () {
      for (; made < 400; made++) yield Buffer.alloc(100_000);
    };
    const head = contentLength === undefined ? {} : { contentLength: 40_000_000 };
    const answer = sendBytes(ticket, body(), head);
    let before = -1;
    await until(async () => {
      const isSteady = made > 0 && made === before;
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isSteady;
    });
    assert.ok(made < 200, `${made} chunks were made for an owner that reads nothing`);
    startReading();
    assert.equal(((await answer) as { bytes: number }).bytes, 40_000_000);
  });
  test(`a caller that leaves an upload of ${kind} length aborts the owner`, async () => {
    const leaving = new AbortController();
    let aborted = false;
    const ticket = server.byteTransfers.upload({
      receive: async (body, _about, signal) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        for await (const _ of body) leaving.abort();
      },
    });
    const body = async function* () {
      for (;;) yield Buffer.alloc(10_000);
    };
    await assert.rejects(
      sendBytes(ticket, body(), { contentLength }, leaving.signal),
      isFault("unavailable"),
    );
    await until(() => aborted);
  });
}

test("a rejected upload answers the fault with its seconds, before the body has ended", async () => {
  const ticket = server.byteTransfers.upload({
    receive: async (body) => {
      for await (const _ of body) throw new Fault("upload_busy", { retryAfterSeconds: 3 });
    },
  });
  await assert.rejects(sendBytes(ticket, Readable.from(chunks(20, 100_000)), {}), (error: unknown) => {
    assert.equal((error as Fault).fault, "upload_busy");
    assert.equal((error as Fault).retryAfterSeconds, 3);
    return true;
  });
});

test("an unknown failure of an upload is internal and its text is withheld", async () => {
  const ticket = server.byteTransfers.upload({
    receive: async () => {
      throw new Error("/srv/secret");
    },
  });
  await assert.rejects(sendBytes(ticket, Readable.from([]), {}), (error: Error) => {
    assert.equal((error as Fault).fault, "internal");
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
});

test("a sender that disconnects fails the upload at the owner", async () => {
  let outcome = "";
  const ticket = server.byteTransfers.upload({
    receive: async (body) => {
      await digestOf(body).then(
        () => {
          outcome = "whole";
        },
        () => {
          outcome = "broken";
        },
      );
    },
  });
  const url = new URL(ticket.url);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.write(
    `PUT ${url.pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ticket.token}\r\nContent-Length: 100\r\n\r\nabc`,
  );
  setImmediate(() => socket.end());
  await until(() => outcome !== "");
  assert.equal(outcome, "broken");
  socket.destroy();
});

test("a sender that stalls is disconnected after the stall time", async () => {
  let outcome = "";
  const ticket = server.byteTransfers.upload({
    stallMs: 50,
    receive: async (body) => {
      outcome = await digestOf(body).then(
        () => "whole",
        () => "broken",
      );
    },
  });
  const url = new URL(ticket.url);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.on("error", () => {});
  socket.write(
    `PUT ${url.pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ticket.token}\r\nContent-Length: 100\r\n\r\nabc`,
  );
  await until(() => outcome !== "");
  assert.equal(outcome, "broken");
  socket.destroy();
});

test("an owner that is gone makes a byte transfer unavailable", async () => {
  const gone = await startByteTransferServer({ host: "127.0.0.1", log });
  const ticket = gone.byteTransfers.download({ headers: {}, source: () => chunks(1, 1) });
  await gone.close();
  await assert.rejects(fetchBytes(ticket), isFault("unavailable"));
  await assert.rejects(sendBytes(ticket, Readable.from(["x"]), {}), isFault("unavailable"));
});

test("a body that was rejected midway does not block the next one of its connection", async () => {
  const head = { contentLength: 1_000_000 };
  for (let round = 0; round < 10; round++) {
    const refusing = server.byteTransfers.upload({
      receive: async (body) => {
        for await (const _ of body) throw new Fault("upload_busy");
      },
    });
    // The whole body is sent before it is rejected.
    const body = Readable.from([Buffer.alloc(1_000_000)]);
    await assert.rejects(sendBytes(refusing, body, head), isFault("upload_busy"));
    const ticket = server.byteTransfers.upload({ receive: (taken) => digestOf(taken) });
    const signal = AbortSignal.timeout(5_000);
    const answer = await sendBytes(ticket, Readable.from(chunks(10, 100_000)), head, signal);
    assert.equal((answer as { bytes: number }).bytes, 1_000_000);
  }
});
