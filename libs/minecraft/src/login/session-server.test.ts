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
async function serverThat(t: TestContext, answer: Answer) {
  const server = createServer((_, response) => {
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
  return { root: `http://127.0.0.1:${address.port}` };
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
