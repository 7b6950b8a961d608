import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { supportedProtocols, supportedRange } from "../version/catalog.ts";
import { string, ushort, varint } from "../wire/bytes.ts";
import { Connection } from "../wire/connection.ts";
import { type Listener, listen } from "./listen.ts";

let listener: Listener;
before(async () => {
  listener = await listen({
    ...{ port: 0, host: "127.0.0.1", trust: { kind: "offline" } },
    status: ({ protocol }) => ({ description: `for ${protocol}`, playersOnline: 2, playersMax: 5 }),
    onPlayer: () => assert.fail("nobody is let in"),
  });
});
after(() => listener.close());

/** The first packet that a client of this protocol gets in answer to a question or a login. */
async function answerTo(protocol: number, intent: "status" | "login"): Promise<unknown> {
  const connection = new Connection(connect(listener.port, "127.0.0.1"));
  connection.send(0, varint(protocol), string("localhost"), ushort(1), varint(intent === "status" ? 1 : 2));
  connection.send(0, ...(intent === "login" ? [string("Old"), Buffer.alloc(16)] : []));
  const { id, reader } = await connection.next();
  assert.equal(id, 0);
  connection.destroy();
  return JSON.parse(reader.string());
}

const [oldest = 0, newest = 0] = [supportedProtocols[0], supportedProtocols.at(-1)];
const strangers: Record<string, number> = {
  "the version before the oldest": oldest - 1,
  "the version after the newest": newest + 1,
  "a snapshot": 1_073_742_162,
  "1.8": 47,
  "no version at all": -1,
};
for (const [name, protocol] of Object.entries(strangers)) {
  test(`a client of ${name} reads in two languages which versions are spoken`, async () => {
    const { text } = (await answerTo(protocol, "login")) as { text: string };
    assert.equal(text.split(supportedRange).length, 3);
    assert.match(text, /^This network speaks Minecraft 1\.20\.5-.+ one of these versions\.\n本网络支持/);
  });

  test(`in the server list of ${name} the versions stand in place of its own, and what the server says beside them`, async () => {
    const { version, description } = (await answerTo(protocol, "status")) as Record<string, unknown>;
    assert.deepEqual(version, { name: `Minecraft ${supportedRange}`, protocol: newest });
    assert.deepEqual(description, { text: `for ${protocol}` });
  });
}

test("a client of a version we speak is told its own number, so that its list shows no warning", async () => {
  for (const protocol of supportedProtocols) {
    const { version } = (await answerTo(protocol, "status")) as { version: { protocol: number } };
    assert.equal(version.protocol, protocol);
  }
});

for (const [kind, shortest] of [
  ["offline", 1],
  ["named", 3],
] as const) {
  test(`with trust "${kind}" a name that breaks the rule reads the rule that was checked`, async () => {
    const sessionServer = { root: "http://127.0.0.1:1", timeoutMs: 1_000 };
    await using own = await listen({
      ...{ port: 0, host: "127.0.0.1", status: () => assert.fail("nobody asks") },
      trust: kind === "named" ? { kind, sessionServer } : { kind },
      onPlayer: () => {},
    });
    for (const name of ["é", "x".repeat(17), ...(shortest > 1 ? ["x".repeat(shortest - 1)] : [])]) {
      const connection = new Connection(connect(own.port, "127.0.0.1"));
      connection.send(0, varint(newest), string("localhost"), ushort(1), varint(2));
      connection.send(0, string(name), Buffer.alloc(16));
      const { text } = JSON.parse((await connection.next()).reader.string()) as { text: string };
      assert.match(text, new RegExp(`Use ${shortest} to 16 letters`), name);
      connection.destroy();
    }
  });
}
