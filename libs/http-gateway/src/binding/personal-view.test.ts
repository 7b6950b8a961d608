// Answers from views that depend on who asks: never an old right, never an entry left out.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { ViewWriter } from "@svc/mesh";
import { accounts, eventSubject } from "@svc/proto";
import type { z } from "zod";
import * as contracts from "../testing/contracts.ts";
import { type GatewayFixture, type RunningFace, startGatewayFixture } from "../testing/gateway-fixture.ts";
import { send } from "../testing/raw-request.ts";

type Keeper = z.output<typeof contracts.Keeper>;

let fixture: GatewayFixture;
let face: RunningFace;
let things: ViewWriter<z.output<typeof contracts.Thing>>;
let keepers: ViewWriter<Keeper>;
let isCurrent = true;
let asked = 0;

const get = (path: string, cookie: string, headers: Record<string, string> = {}) =>
  send(face.port, { path, headers: { cookie: `svc_session=${cookie}`, ...headers } });
const bodyOf = async (path: string, cookie: string) => (await get(path, cookie)).body;
const isFromOwner = async (path: string, cookie: string) => {
  const before = asked;
  await get(path, cookie);
  return asked > before;
};

before(async () => {
  fixture = await startGatewayFixture();
  fixture.owner.serve(contracts.personalList, () => {
    asked++;
    return { items: [{ name: "from-owner" }] };
  });
  fixture.owner.serve(contracts.personalPages, (_context, input) => {
    asked++;
    assert.deepEqual(input, {}, "the owner is asked for the whole list");
    const items = ["z-2", "z-10", "z-9"].map((name) => ({ name, size: 7 }));
    return { items };
  });
  fixture.owner.serve(contracts.personalItem, (context, { id }) => {
    asked++;
    if (id === "nowhere") throw context.fault("not_found");
    return { name: "from-owner" };
  });
  fixture.owner.serve(contracts.changePersonal, (context, { id }) => {
    if (id === "nowhere") throw context.fault("not_found");
    return { ok: true as const };
  });
  things = await fixture.owner.writeView(contracts.things);
  keepers = await fixture.owner.writeView(contracts.keepers, { isCurrent: () => isCurrent });
  await fill();
  face = await fixture.startFace({ settings: { viewRebuildMs: 1 } });
  await untilAnswered();
});
after(() => fixture.close());
afterEach(async () => {
  isCurrent = true;
  await fill();
  await untilAnswered();
});

const all = '{"things":[{"name":"a","size":1},{"name":"b"}]}';
async function fill(): Promise<void> {
  await things.replace(
    new Map([
      ["a", { name: "a", size: 1 }],
      ["b", { name: "b", size: 2 }],
      ["c", { name: "c", size: 3 }],
    ]),
  );
  await keepers.replace(
    new Map<string, Keeper>([
      ["a", { name: "a", keeper: "usr-a" }],
      ["b", { name: "b", keeper: "usr-b" }],
      ["c", { name: "c" }],
    ]),
  );
}
async function untilAnswered(): Promise<void> {
  const cookie = fixture.signIn("usr-a");
  await until(async () => (await bodyOf("/personal", cookie)) === all, 10_000, "the view in the gateway");
}

test("each caller gets their own rows, with a tag of their own, for no shared cache", async () => {
  const [a, b] = [fixture.signIn("usr-a"), fixture.signIn("usr-b")];
  const before = asked;
  const first = await get("/personal", a);
  assert.equal(first.body, all);
  assert.equal(first.headers["cache-control"], "private, no-cache");
  assert.equal(await bodyOf("/personal", b), '{"things":[{"name":"a"},{"name":"b","size":2}]}');
  assert.equal(await bodyOf("/personal/a", a), '{"name":"a","size":1}');
  assert.equal(await bodyOf("/personal/a", b), '{"name":"a"}');
  assert.equal(asked, before, "the owner was not asked");
  const tag = { "if-none-match": first.headers["etag"] ?? "" };
  assert.equal((await get("/personal", a, tag)).status, 304);
  assert.equal((await get("/personal", b, tag)).status, 200);
  assert.equal((await get("/personal", "x".repeat(43), tag)).status, 401);
});

test("what is not for the caller, or not there, is the owner's to refuse", async () => {
  const cookie = fixture.signIn("usr-a");
  assert.ok(await isFromOwner("/personal/c", cookie));
  assert.equal((await get("/personal/nowhere", cookie)).status, 404);
});

test("a keeper who was replaced sees it at once no more, and the new one does", async () => {
  const [a, b] = [fixture.signIn("usr-a"), fixture.signIn("usr-b")];
  assert.equal(await bodyOf("/personal/a", a), '{"name":"a","size":1}');
  await keepers.put("a", { name: "a", keeper: "usr-b" });
  await until(async () => (await bodyOf("/personal/a", a)) === '{"name":"a"}', 400, "the change");
  assert.equal(await bodyOf("/personal/a", b), '{"name":"a","size":1}');
  assert.equal(await bodyOf("/personal", a), '{"things":[{"name":"a"},{"name":"b"}]}');
});

test("an entry that was removed is gone from lists and left to the owner", async () => {
  const cookie = fixture.signIn("usr-a");
  await things.remove("a");
  await until(
    async () => (await bodyOf("/personal", cookie)) === '{"things":[{"name":"b"}]}',
    400,
    "the removal",
  );
  assert.ok(await isFromOwner("/personal/a", cookie));
});

test("with an entry whose counterpart is missing, the whole list is the owner's to answer", async () => {
  const cookie = fixture.signIn("usr-a");
  await keepers.remove("b");
  await until(
    async () => (await bodyOf("/personal", cookie)).includes("from-owner"),
    400,
    "the owner's answer",
  );
  assert.ok(await isFromOwner("/personal/b", cookie));
  assert.equal(await isFromOwner("/personal/a", cookie), false);
});

test("a view that nobody vouches for is stale within its bound, and the owner is asked", async () => {
  const cookie = fixture.signIn("usr-a");
  isCurrent = false;
  const stoppedAt = performance.now();
  await until(() => isFromOwner("/personal/a", cookie), 1_000, "the owner to be asked");
  assert.ok(performance.now() - stoppedAt < contracts.keepers.staleAfterMs + 300);
  assert.ok(await isFromOwner("/personal", cookie));
  isCurrent = true;
  await until(async () => !(await isFromOwner("/personal/a", cookie)), 1_000, "the view");
});

test("an account reads what it has just changed, also when the change was refused", async () => {
  const [a, b] = [fixture.signIn("usr-a"), fixture.signIn("usr-b")];
  for (const [id, status] of [
    ["a", 200],
    ["nowhere", 404],
  ] as const) {
    const path = `/personal/${id}/change`;
    const changed = await send(face.port, { method: "POST", path, headers: { cookie: `svc_session=${b}` } });
    assert.equal(changed.status, status);
    assert.ok(await isFromOwner("/personal", b));
    assert.ok(await isFromOwner("/personal/a", b));
  }
  assert.equal(await isFromOwner("/personal", a), false, "others are not concerned");
  await until(async () => !(await isFromOwner("/personal", b)), 5_000, "the view again");
});

test("a page is cut from the view, with its own tag", async () => {
  const cookie = fixture.signIn("usr-pages");
  const before = asked;
  const path = "/pages?sort=size&order=desc&limit=2";
  const first = await get(path, cookie);
  assert.equal(first.body, '{"things":[{"name":"c","size":3},{"name":"b","size":2}],"total":3}');
  assert.equal((await get(path, cookie, { "if-none-match": first.headers["etag"] ?? "" })).status, 304);
  assert.equal(await bodyOf(`${path}&offset=2`, cookie), '{"things":[{"name":"a","size":1}],"total":3}');
  assert.equal(await bodyOf(`${path}&offset=3`, cookie), '{"things":[],"total":3}');
  assert.equal(
    await bodyOf("/pages?query=B&keeper=2", cookie),
    '{"things":[{"name":"b","size":2}],"total":1}',
  );
  assert.equal(await bodyOf("/pages?query=B&keeper=3", cookie), '{"things":[],"total":0}');
  assert.ok(
    !(await bodyOf("/pages", cookie)).includes("total"),
    "without parameters it is the list of before",
  );
  assert.equal(asked, before, "the owner was not asked");
});

test("a page is cut from the owner's whole list while an entry lacks its counterpart", async () => {
  const cookie = fixture.signIn("usr-pages");
  await keepers.remove("b");
  const page = () => bodyOf("/pages?query=z&offset=1&limit=1", cookie);
  await until(async () => (await page()) === '{"things":[{"name":"z-9","size":7}],"total":3}', 10_000, "it");
});

for (const [parameter, named] of [
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["offset=-1", "offset"],
  ["sort=price", "sort"],
  ["order=up", "order"],
  [`query=${"x".repeat(101)}`, "query"],
  ["colour=red", "colour"],
  ["cursor=a", "cursor"],
] as const)
  test(`a page with ${parameter.slice(0, 12)} is refused by name`, async () => {
    const answer = await get(`/pages?${parameter}`, fixture.signIn("usr-a"));
    assert.equal(answer.status, 400);
    assert.ok(JSON.parse(answer.body).error.message.includes(named));
  });

test("pages follow the view", async () => {
  const cookie = fixture.signIn("usr-a");
  await things.put("b", { name: "b", size: 9 });
  const page = () => bodyOf("/pages?sort=size&order=desc&limit=1", cookie);
  await until(async () => (await page()).includes('"size":9'), 10_000, "the change");
  await things.remove("b");
  await until(
    async () => (await page()) === '{"things":[{"name":"c","size":3}],"total":2}',
    10_000,
    "the removal",
  );
});

test("a long list goes compressed to whoever takes gzip, with a tag of its own", async () => {
  const cookie = fixture.signIn("usr-a");
  const long = { name: "long ".repeat(500), size: 4 };
  await keepers.put("long", { name: long.name, keeper: "usr-a" });
  await things.put("long", long);
  const paths = ["/pages", "/pages?sort=size", "/personal"];
  for (const path of paths)
    await until(
      async () => (await bodyOf(path, cookie)).includes("long"),
      10_000,
      `the long entry in ${path}`,
    );
  const ask = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(`${face.url}${path}`, {
      headers: { cookie: `svc_session=${cookie}`, ...headers },
    });
    const { status } = answer;
    const [encoding, etag] = ["content-encoding", "etag"].map((name) => answer.headers.get(name));
    const bytes = Number(answer.headers.get("content-length"));
    assert.equal(answer.headers.get("vary"), "Accept-Encoding");
    return { status, encoding, etag: etag ?? "", bytes, body: await answer.text() };
  };
  const gzip = { "accept-encoding": "br, gzip;q=0.8" };
  for (const path of paths) {
    const plain = await ask(path, { "accept-encoding": "identity" });
    const packed = await ask(path, gzip);
    assert.deepEqual([plain.encoding, packed.encoding], [null, "gzip"]);
    assert.equal(packed.body, plain.body);
    assert.ok(packed.bytes < plain.bytes / 5);
    assert.notEqual(packed.etag, plain.etag);
    const same = await ask(path, { ...gzip, "if-none-match": packed.etag });
    assert.deepEqual([same.status, same.etag, same.body], [304, packed.etag, ""]);
    assert.equal((await ask(path, { ...gzip, "if-none-match": plain.etag })).status, 200);
    assert.equal((await ask(path, { "accept-encoding": "", "if-none-match": plain.etag })).status, 304);
  }
  const short = await ask("/pages?limit=1", gzip);
  assert.equal(short.encoding, null);
});

test("a session that was ended reads nothing from a view", async () => {
  const cookie = fixture.signIn("usr-a");
  assert.equal((await get("/personal", cookie)).status, 200);
  fixture.sessions.delete(hash("sha256", cookie));
  const data = { hash: hash("sha256", cookie), user_id: "usr-a", at: new Date().toISOString() };
  const subject = eventSubject(accounts.sessionRevoked, data);
  await fixture.identity.publish([{ id: cookie, subject, body: Buffer.from(JSON.stringify(data)) }]);
  await until(async () => (await get("/personal", cookie)).status === 401, 1_000, "the refusal");
});
