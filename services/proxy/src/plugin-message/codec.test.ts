import assert from "node:assert/strict";
import { test } from "node:test";
import { type PluginRequest, readRequest, writeAnswer } from "./codec.ts";

const refused = (what: string) => ({ type: "refused", what }) as const;
const words = (...all: string[]) => writeAnswer(all);

const rows: [fact: string, data: Buffer, read: PluginRequest | ReturnType<typeof refused>][] = [
  ["a switch names its server", words("Connect", "lobby"), { type: "Connect", server: "lobby" }],
  ["a count names its server", words("PlayerCount", "ALL"), { type: "PlayerCount", server: "ALL" }],
  ["three questions stand alone", words("GetServers"), { type: "GetServers" }],
  ["one of them with an argument is malformed", words("UUID", "alice"), refused("malformed")],
  ["a switch without a server is malformed", words("Connect"), refused("malformed")],
  ["a switch to nothing is malformed", words("Connect", ""), refused("malformed")],
  ["what acts on others is refused by its name", words("ConnectOther", "bob", "x"), refused("ConnectOther")],
  ["so is what tells of others", words("PlayerList", "ALL"), refused("PlayerList")],
  ["a name that nobody knows stays out of the log", words("<b>forged</b>\n"), refused("unknown")],
  ["nothing is unknown", Buffer.alloc(0), refused("unknown")],
  ["a length beyond the end is refused", Buffer.from([0, 99, 65]), refused("unknown")],
  ["half a length is refused", Buffer.concat([words("UUID"), Buffer.of(0)]), refused("unknown")],
  ["bytes of other characters are refused", words("Connect", "\u00e4"), refused("unknown")],
  ["what is too long is refused", words("Connect", "x".repeat(2_000)), refused("unknown")],
  ["a switch with more behind it is refused", words("Connect", "a", "b"), refused("unknown")],
];
for (const [fact, data, read] of rows) test(fact, () => assert.deepEqual(readRequest(data), read));

test("an answer is written as Java reads it", () => {
  const written = writeAnswer(["PlayerCount", "ALL"], 258);
  assert.equal(
    written.toString("hex"),
    `000b${Buffer.from("PlayerCount").toString("hex")}0003414c4c00000102`,
  );
});
