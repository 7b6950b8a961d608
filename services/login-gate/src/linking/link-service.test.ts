import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@svc/client";
import { systemClock } from "@svc/service/clock";
import { createNodeFetch } from "@svc/service/node-fetch";
import { createSemaphore } from "@svc/service/semaphore";
import { startInternalApi } from "../testing/internal-api.ts";
import { createLinkService, type LinkService } from "./link-service.ts";

const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const other = "069a79f4-44e9-4726-a5be-fca90e38aaf6";
const staying = new AbortController().signal;
let face: Awaited<ReturnType<typeof startInternalApi>>;
before(async () => {
  face = await startInternalApi();
});
after(() => face[Symbol.asyncDispose]());

function service(about: { baseUrl?: string; token?: string } = {}): {
  calls: LinkService;
  failures: string[];
} {
  const { baseUrl = face.baseUrl, token = face.token } = about;
  const failures: string[] = [];
  const client = createClient({
    baseUrl,
    headers: { authorization: `Bearer ${token}` },
    fetch: createNodeFetch({ connections: 4 }).fetch,
  });
  const calls = createLinkService({
    client,
    timeoutMs: 2_000,
    limit: createSemaphore(4).run,
    ...{ clock: systemClock, pollMs: 5 },
    onFailure: (call) => failures.push(call),
  });
  return { calls, failures };
}

test("a check asks for the blacklist first, and for the link only when the player is not on it", async () => {
  Object.assign(face.state, { barred: true, linked: true });
  face.seen.length = 0;
  assert.deepEqual(await service().calls.look(uuid, staying), { kind: "barred" });
  assert.deepEqual(face.seen, [`player/blacklist/${uuid}`]);
  face.state.barred = false;
  assert.deepEqual(await service().calls.look(uuid, staying), { kind: "linked" });
  face.state.linked = false;
  assert.deepEqual(await service().calls.look(uuid, staying), { kind: "unlinked" });
  assert.deepEqual(await service().calls.poll(uuid, staying), { kind: "unlinked" });
});

test("a poll asks about everybody in one call, or one by one when the service can't batch", async () => {
  face.state.linked = true;
  for (const isOld of [false, true]) {
    Object.assign(face.state, { isOld });
    face.seen.length = 0;
    const { calls, failures } = service();
    const answers = await Promise.all([calls.poll(uuid, staying), calls.poll(other, staying)]);
    assert.deepEqual(answers, [{ kind: "linked" }, { kind: "linked" }]);
    const singly = [uuid, other].map((one) => `account/link/status/${one}`);
    assert.deepEqual(face.seen, ["account/link/statuses", ...(isOld ? singly : [])]);
    assert.deepEqual(failures, []);
  }
  Object.assign(face.state, { isOld: false, linked: false });
});

test("a code comes with its expiry time", async () => {
  const answer = await service().calls.mint(uuid, staying);
  assert.equal(answer.kind, "minted");
  assert.ok(answer.kind === "minted" && Math.abs(answer.expiresAt - Date.now() - 600_000) < 5_000);
});

const statuses: [number, "refused" | "outage"][] = [
  [400, "refused"],
  [403, "refused"],
  [429, "refused"],
  [500, "outage"],
  [502, "outage"],
  [503, "outage"],
];
for (const [status, kind] of statuses) {
  test(`${status} is ${kind === "outage" ? "an outage" : "a refusal"}, whatever was asked`, async () => {
    face.state.status = status;
    const { calls, failures } = service();
    for (const call of ["look", "poll", "mint"] as const) {
      assert.deepEqual(await calls[call](uuid, staying), { kind });
    }
    assert.deepEqual(failures, ["look", "poll", "mint"]);
    face.state.status = undefined;
  });
}

test("a wrong token is told apart from a refusal, an unreachable service an outage", async () => {
  assert.deepEqual(await service({ token: "wrong" }).calls.look(uuid, staying), { kind: "unauthenticated" });
  const nowhere = service({ baseUrl: "http://127.0.0.1:1" });
  assert.deepEqual(await nowhere.calls.look(uuid, staying), { kind: "outage" });
});

test("an answer that does not fit says nothing about the player", async () => {
  face.state.linked = "yes" as unknown as boolean;
  assert.deepEqual(await service().calls.poll(uuid, staying), { kind: "outage" });
  face.state.linked = false;
});

test("a call ends with the player who leaves", async () => {
  const leaving = new AbortController();
  leaving.abort();
  await assert.rejects(service().calls.poll(uuid, leaving.signal), { name: "AbortError" });
});
