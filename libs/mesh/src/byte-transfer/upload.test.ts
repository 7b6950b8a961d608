import assert from "node:assert/strict";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { Fault } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { chunks, digestOf, isFault } from "../testing/bodies.ts";
import { until } from "../testing.ts";
import { sendBytes } from "./client.ts";
import { type ByteTransferServer, startByteTransferServer } from "./server.ts";

const log = createLogger("lifecycle", "silent");
let server: ByteTransferServer;

before(async () => {
  server = await startByteTransferServer({ host: "127.0.0.1", log });
});
after(() => server?.close());

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
