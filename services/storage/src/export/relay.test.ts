import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { isFault } from "@svc/proto";
import { createRelay, type RelayOptions } from "./relay.ts";
import { idOf, isToken, newSecrets, openTicket, sealTicket } from "./secret.ts";

const bytes = randomBytes(300_000);
const sha = (content: Uint8Array) => createHash("sha256").update(content).digest();
const trailer = (content: Uint8Array) => `sha-256=:${sha(content).toString("base64")}:`;
const quiet = { waitMs: 60_000, bodyMs: 60_000, onWaited: async () => true };

async function* pieces(content: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

const nameOf = (error: unknown) => (isFault(error) ? error.fault : String(error));

/** What the browser received, and the result that each end got. */
async function transfer(
  options: Partial<RelayOptions>,
  job: { body?: AsyncIterable<Uint8Array>; digest?: string | undefined },
) {
  const relay = createRelay({ ...quiet, ...options });
  const head = {
    contentLength: undefined,
    contentDigest: undefined,
    trailerDigest: () => ("digest" in job ? job.digest : trailer(bytes)),
  };
  const received = relay.receive(job.body ?? pieces(bytes), head, new AbortController().signal).then(
    () => "done",
    (error: unknown) => nameOf(error),
  );
  const got: Uint8Array[] = [];
  let browser = "whole";
  try {
    for await (const chunk of relay.source(new AbortController().signal)) got.push(Buffer.from(chunk));
  } catch {
    browser = "cut";
  }
  return { browser, got: Buffer.concat(got), job: await received };
}

describe("the relay from a Job to a browser", () => {
  const row = { size: bytes.length, sha256: sha(bytes).toString("hex") };
  test("every byte arrives, and the Job gets a success at the end", async () => {
    const { browser, got, job } = await transfer({ expected: row, length: bytes.length }, {});
    assert.deepEqual([browser, job], ["whole", "done"]);
    assert.ok(got.equals(bytes));
  });
  test("an empty body is complete", async () => {
    const empty = new Uint8Array(0);
    const { browser, got, job } = await transfer(
      { length: 0 },
      { body: pieces(empty), digest: trailer(empty) },
    );
    assert.deepEqual([browser, got.length, job], ["whole", 0, "done"]);
  });
  const other = randomBytes(300_000);
  const broken = async function* () {
    yield* pieces(bytes.subarray(0, 100_000));
    throw new Error("the connection is gone");
  };
  type Case = [Partial<RelayOptions>, Parameters<typeof transfer>[1], job: string];
  const cases: Record<string, Case> = {
    "a body without its digest is cut": [{}, { digest: undefined }, "export_expired"],
    "a body that differs from its digest is cut": [{}, { digest: trailer(other) }, "export_expired"],
    "a body shorter than declared is cut": [{ length: bytes.length + 1 }, {}, "export_expired"],
    "a body longer than declared is cut": [{ length: bytes.length - 1 }, {}, "export_expired"],
    "a body whose connection breaks is cut": [{}, { body: broken() }, "Error: the connection is gone"],
    "an archive other than the recorded one is cut, and the Job is told that it is corrupt": [
      { expected: { ...row, sha256: sha(other).toString("hex") } },
      {},
      "backup_corrupt",
    ],
    "an archive that grew is cut": [{ expected: { ...row, size: row.size - 1 } }, {}, "backup_corrupt"],
    "an archive that shrank is cut": [{ expected: { ...row, size: row.size + 1 } }, {}, "backup_corrupt"],
  };
  for (const [name, [options, job, received]] of Object.entries(cases)) {
    test(name, async () => {
      const outcome = await transfer(options, job);
      assert.deepEqual([outcome.browser, outcome.job], ["cut", received]);
      assert.ok(outcome.got.length < bytes.length);
    });
  }
  test("nothing is read before the browser connects", async () => {
    let read = 0;
    const body = async function* () {
      for await (const piece of pieces(bytes)) {
        read += piece.length;
        yield piece;
      }
    };
    const relay = createRelay({ ...quiet, waitMs: 20 });
    const head = { contentLength: undefined, contentDigest: undefined, trailerDigest: () => undefined };
    await assert.rejects(relay.receive(body(), head, new AbortController().signal), (error) => {
      assert.equal(nameOf(error), "export_expired");
      return true;
    });
    assert.equal(read, 0);
  });
  test("a browser waits for a missing body only until its deadline, and a body that arrives later is rejected", async () => {
    const relay = createRelay({ ...quiet, bodyMs: 20 });
    const signal = new AbortController().signal;
    await assert.rejects(relay.source(signal).next(), (error) => nameOf(error) === "export_expired");
    const head = { contentLength: undefined, contentDigest: undefined, trailerDigest: () => trailer(bytes) };
    assert.equal(await relay.receive(pieces(bytes), head, signal).catch(nameOf), "export_expired");
  });
  test("an abort ends both sides at once, also while the Job's body stands still", {
    timeout: 20_000,
  }, async () => {
    const ending = new AbortController();
    const body = async function* () {
      yield bytes.subarray(0, 100);
      yield bytes.subarray(100, 200);
      ending.abort(new Error("the server belongs to another account"));
      await new Promise(() => {});
    };
    const { browser, got, job } = await transfer({ signal: ending.signal }, { body: body() });
    assert.deepEqual([browser, got.length, job], ["cut", 100, "export_expired"]);
  });
  test("a browser that disconnects early ends the Job's side too", async () => {
    const relay = createRelay(quiet);
    const head = { contentLength: undefined, contentDigest: undefined, trailerDigest: () => trailer(bytes) };
    const received = relay.receive(pieces(bytes), head, new AbortController().signal).catch(nameOf);
    for await (const _ of relay.source(new AbortController().signal)) break;
    assert.equal(await received, "export_expired");
  });
});

describe("what is derived from a ticket", () => {
  const { ticket, id, token, tokenHash } = newSecrets();
  const transfer = { url: "http://127.0.0.1:1/lanes/x", token: "t", headers: {} };
  test("its id and its token, and neither reveals the ticket", () => {
    assert.match(ticket, /^[0-9a-f]{64}$/);
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.equal(idOf(ticket), id);
    assert.ok(isToken(token, tokenHash) && !isToken(ticket, tokenHash));
  });
  test("data sealed by the Job's side can be opened with this ticket only", () => {
    const sealed = sealTicket(token, transfer);
    assert.deepEqual(openTicket(ticket, sealed), transfer);
    assert.throws(() => openTicket(newSecrets().ticket, sealed));
    assert.doesNotMatch(Buffer.from(sealed, "base64").toString("latin1"), /lanes/);
  });
});
