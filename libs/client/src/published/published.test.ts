// The published client against a plain HTTP server; as a package in tests/flow/published-client.ts.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { operations as allContracts } from "@svc/proto";
import { ApiError } from "../error.ts";
import { createClient } from "./client.ts";
import { type Client, createClient as createWhole, isRefused, uploadFile } from "./index.ts";
import * as operations from "./operations.ts";
import { waitBefore } from "./retry.ts";

type Answer = (response: ServerResponse, body: Buffer) => void;
let svc: Client;
let url: string;
/** Taken one after the other; the last one stays. */
let answers: Answer[];
const seen: IncomingMessage[] = [];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  seen.push(request);
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  answer?.(response, Buffer.concat(chunks));
});
before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  url = `http://127.0.0.1:${address.port}`;
  svc = createWhole({ url, token: " svc_pat_x\n" });
});
after(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen.length = 0;
});

const json =
  (status: number, value: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
const refusal = (status: number, code: string, after?: string) =>
  json(status, { error: { code, message: "No." } }, after === undefined ? {} : { "retry-after": after });
const mine = json(200, { servers: [] });

test("has exactly the operations that API tokens open, by the names of their contracts", () => {
  const offered = Object.values(operations)
    .flatMap((noun) => Object.values(noun))
    .map((one) => ("kind" in one ? one.contract : one));
  const open = allContracts.filter(({ http }) => http.rights !== undefined);
  assert.deepEqual(offered.map(({ subject }) => subject).sort(), open.map(({ subject }) => subject).sort());
  for (const noun of Object.values(operations))
    for (const one of Object.values(noun)) {
      const [contract, kind] = "kind" in one ? [one.contract, one.kind] : [one, "json"];
      assert.equal(contract.http?.kind, kind, contract.subject);
    }
});

test("sends the token, and reads what a contract says", async () => {
  answers = [mine];
  assert.deepEqual(await svc.ownership.listMine(), { items: [] });
  assert.equal(seen[0]?.headers.authorization, "Bearer svc_pat_x");
  assert.deepEqual(Object.keys(createClient({ url, token: "t", use: { servers: operations.servers } })), [
    "servers",
  ]);
  assert.throws(() => createWhole({ url: "console.example.net", token: "t" }), /no address such as https/);
  assert.throws(() => createWhole({ url, token: " " }), /svc token create/);
});

test("a refusal is told by its code", async () => {
  answers = [refusal(409, "not_running")];
  await assert.rejects(svc.consoles.command({ name: "one", command: "list" }), (error) => {
    assert.ok(isRefused(error, "cooldown", "not_running"));
    assert.equal(isRefused(error, "cooldown"), false);
    assert.deepEqual([error.status, error.code, error.message], [409, "not_running", "No."]);
    return true;
  });
});

describe("repetitions", () => {
  const refused = (status: number, retryAfterSeconds?: number) =>
    new ApiError("No.", { status, code: "", requestId: "", retryAfterSeconds });
  const table: [fact: string, error: unknown, failures: number, wait: number | undefined][] = [
    ["503 waits what it says", refused(503, 7), 0, 7_000],
    ["429 waits what it says, however often it failed", refused(429, 1), 9, 1_000],
    ["503 without a time waits half a second, then twice as long", refused(503), 2, 2_000],
    ["at most 15 s", refused(503), 30, 15_000],
    ["a lost connection is waited for", new TypeError("fetch failed"), 0, 500],
    ["409 is final", refused(409, 5), 0, undefined],
    ["500 is final", refused(500), 0, undefined],
    ["an aborted call is final", new DOMException("", "AbortError"), 0, undefined],
  ];
  for (const [fact, error, failures, wait] of table)
    test(fact, () => assert.equal(waitBefore(error, failures), wait));

  test("a call that may be repeated is, until it succeeds", async () => {
    answers = [refusal(503, "unavailable", "0"), refusal(429, "token_rate_limited", "0"), mine];
    await svc.ownership.listMine();
    assert.equal(seen.length, 3);
  });
  test("a change that may have been made is sent once", async () => {
    answers = [refusal(503, "unavailable", "0")];
    await assert.rejects(svc.servers.wake({ name: "one" }), { status: 503 });
    assert.equal(seen.length, 1);
  });
  test("a wait beyond the time of the call is not begun", async () => {
    answers = [refusal(503, "unavailable", "3600")];
    await assert.rejects(svc.ownership.listMine({}, { timeoutMs: 2_000 }), { retryAfterSeconds: 3_600 });
    assert.equal(seen.length, 1);
  });
  test("a signal ends the wait", async () => {
    answers = [refusal(503, "unavailable", "30")];
    const ending = new AbortController();
    const call = svc.ownership.listMine({}, { signal: ending.signal });
    setTimeout(() => ending.abort(new Error("enough")), 20);
    await assert.rejects(call, /enough|aborted/);
  });
});

describe("streams", () => {
  const events =
    (text: string): Answer =>
    (response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end(text);

  test("go on behind the last event, and end with the right to see them", async () => {
    answers = [events("id: 7\ndata: one\n\n"), events("id: 8\ndata: two\n\nevent: revoked\ndata:\n\n")];
    const heard: string[] = [];
    for await (const { event, data } of svc.consoles.watch({ name: "one" })) heard.push(event || data);
    assert.deepEqual(heard, ["one", "two", "revoked"]);
    assert.deepEqual(
      seen.map(({ headers }) => headers["last-event-id"]),
      [undefined, "7"],
    );
  });
  test("a refusal that stays is thrown, one that passes is waited for", async () => {
    answers = [refusal(503, "unavailable", "0"), refusal(409, "not_running")];
    await assert.rejects(svc.consoles.watch({ name: "one" }).next(), { code: "not_running" });
    assert.equal(seen.length, 2);
  });
  test("whoever stops reading lets go of the connection", async () => {
    let hasClosed: (() => void) | undefined;
    const closed = new Promise<void>((settle) => {
      hasClosed = settle;
    });
    answers = [
      (response) => {
        response.on("close", () => hasClosed?.());
        response.writeHead(200).write("data: one\n\n");
      },
    ];
    for await (const { data } of svc.changes.watch()) {
      assert.equal(data, "one");
      break;
    }
    await closed;
  });
});

test("an upload has its digest and is sent as it is", async () => {
  const bodies: string[] = [];
  answers = [
    (response, body) => {
      bodies.push(body.toString());
      json(200, {})(response, body);
    },
  ];
  const sent = await uploadFile(svc, { name: "one", path: "a b.txt", content: "hello" });
  assert.deepEqual([sent, bodies], [{ path: "a b.txt", size: 5 }, ["hello"]]);
  assert.equal(seen[0]?.url, "/api/v1/servers/one/files/upload?path=a+b.txt&overwrite=false");
  assert.equal(seen[0]?.headers["content-length"], "5");
  const digest = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";
  assert.equal(seen[0]?.headers["content-digest"], digest);
});
