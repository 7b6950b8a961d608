import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { hasJoined, isNameOf } from "./session-server.ts";

const names: [answered: string, asked: string, isTheirs: boolean][] = [
  ["Steve", "Steve", true],
  ["Steve", "steve", true],
  ["EL_Steve", "Steve", true],
  ["EL_abcdefghijklm", "abcdefghijklmnop", true],
  ["Alex", "Steve", false],
  ["EL_Stev", "Steve", false],
  ["EL_Steve2", "Steve", false],
  ["Prefix_Steve", "Steve", false],
  ["_Steve", "Steve", false],
  ["EL_", "Steve", false],
];
for (const [answered, asked, isTheirs] of names) {
  test(`${answered} is ${isTheirs ? "a" : "no"} name for ${asked}`, () => {
    assert.equal(isNameOf(answered, asked), isTheirs);
  });
}

type Answer = { status: number; body?: string; location?: string };
const id = "069a79f444e94726a5befca90e38aaf5";
/** Gives one answer after the other, and the last one from then on; "lost" breaks the connection, "none" keeps it waiting. */
async function serverThat(t: TestContext, ...answers: (Answer | "lost" | "none")[]) {
  let asked = 0;
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? "none";
    if (answer === "lost") return void request.socket.destroy();
    if (answer === "none") return;
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location });
    response.end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert(address !== null && typeof address === "object");
  return { root: `http://127.0.0.1:${address.port}`, asked: () => asked };
}

const profile = (change: object) => JSON.stringify({ id, name: "Steve", properties: [], ...change });
const wrong: Record<string, [Answer, code: string]> = {
  "nobody of that login": [{ status: 204 }, "unauthenticated"],
  "a refusal": [{ status: 403 }, "unauthenticated"],
  "an error": [{ status: 500, body: profile({}) }, "unavailable"],
  "a redirect": [{ status: 302, location: "/elsewhere" }, "unavailable"],
  "no JSON": [{ status: 200, body: "<html>" }, "unavailable"],
  "nothing at all": [{ status: 200, body: "" }, "unavailable"],
  "a list": [{ status: 200, body: "[]" }, "unavailable"],
  "somebody else's profile": [{ status: 200, body: profile({ name: "Alex" }) }, "unavailable"],
  "a profile without an id": [{ status: 200, body: profile({ id: undefined }) }, "unavailable"],
  "an id that is too short": [{ status: 200, body: profile({ id: id.slice(1) }) }, "unavailable"],
  "a name that is not a player name": [{ status: 200, body: profile({ name: "EL Steve" }) }, "unavailable"],
};
for (const [name, [answer, code]] of Object.entries(wrong)) {
  test(`a session server that answers ${name} lets nobody in: ${code}`, async (t) => {
    await assert.rejects(hasJoined(await serverThat(t, answer), "Steve", "hash"), { code });
  });
}

test("a profile comes with its dashed id, the server's spelling of the name, and sound properties only", async (t) => {
  const properties = [{ name: "textures", value: "e30=" }, { name: 1, value: "x" }, null, "x"];
  const server = await serverThat(t, { status: 200, body: profile({ name: "EL_steve", properties }) });
  assert.deepEqual(await hasJoined(server, "Steve", "hash"), {
    uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5",
    name: "EL_steve",
    properties: [{ name: "textures", value: "e30=" }],
  });
});

for (const [how, answer] of [
  ["breaks the connection", "lost"],
  ["answers 502", { status: 502 }],
  ["answers 503", { status: 503 }],
] as const) {
  test(`a player gets in although the session server ${how} at first`, async (t) => {
    const server = await serverThat(t, answer, answer, { status: 200, body: profile({}) });
    assert.equal((await hasJoined({ ...server, timeoutMs: 60_000 }, "Steve", "hash")).name, "Steve");
    assert.equal(server.asked(), 3);
  });
}

test("a login that is answered once, and lost, is not called unknown", async (t) => {
  const server = await serverThat(t, "lost", { status: 204 });
  await assert.rejects(hasJoined({ ...server, timeoutMs: 60_000 }, "Steve", "hash"), { code: "unavailable" });
});

test("a question that is not answered in time is not asked again", async (t) => {
  const server = await serverThat(t, "none", { status: 200, body: profile({}) });
  await assert.rejects(hasJoined({ ...server, timeoutMs: 100 }, "Steve", "hash"), { code: "unavailable" });
  assert.equal(server.asked(), 1);
});

for (const [what, answers] of [
  ["a replica that hangs", ["none", { status: 200, body: profile({}) }]],
  ["two of them", ["none", "none", "none"]],
  ["one that hangs, while the other one breaks", ["none", "lost", { status: 200, body: profile({}) }]],
] as [string, (Answer | "none" | "lost")[]][]) {
  const isAnswered = answers.length === 2;
  test(`the question is asked a second time at ${what}, ${isAnswered ? "and the player gets in" : "and no third time"}`, async (t) => {
    const server = await serverThat(t, ...answers);
    const asked = hasJoined(
      { ...server, askAgainMs: 20, timeoutMs: isAnswered ? 60_000 : 300 },
      "Steve",
      "hash",
    );
    if (isAnswered) assert.equal((await asked).name, "Steve");
    else await assert.rejects(asked, { code: "unavailable" });
    assert.equal(server.asked(), 2);
  });
}

test("a login that only the second replica does not know, because the first was told, is not called unknown", async (t) => {
  const server = await serverThat(t, "none", { status: 204 });
  await assert.rejects(hasJoined({ ...server, askAgainMs: 20, timeoutMs: 300 }, "Steve", "hash"), {
    code: "unavailable",
    message: "the session server's answer was lost",
  });
});

test("a question that is answered in time is asked once", async (t) => {
  const server = await serverThat(t, { status: 204 });
  await assert.rejects(hasJoined({ ...server, askAgainMs: 60_000 }, "Steve", "hash"), {
    code: "unauthenticated",
  });
  assert.equal(server.asked(), 1);
});

test("the time for a login ends its repeats", async (t) => {
  const server = await serverThat(t, { status: 503 });
  // The time is up in a pause, or while the server is asked.
  await assert.rejects(hasJoined({ ...server, timeoutMs: 300 }, "Steve", "hash"), {
    code: "unavailable",
    message: /answered 503|did not answer/,
  });
  assert.ok(server.asked() < 4, `asked ${server.asked()} times`);
});
