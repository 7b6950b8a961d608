import assert from "node:assert/strict";
import { test } from "node:test";
import {
  forwardingKeyOf,
  parseForwardingMasters,
  serverForwardingSecret,
  sharedForwardingKey,
  systemForwardingSecrets,
  ticketSecrets,
} from "./forwarding.ts";

const [old, next] = ["o".repeat(43), "n".repeat(43)];
const run = { uid: "u-1", generation: 7 };
const key = forwardingKeyOf(old, run);
const secretOf = (masters: readonly string[], name = "survival", ofKey = key) =>
  serverForwardingSecret(masters, { name, key: ofKey });

test("every server, every run, the gate, the lobby and tickets have a secret of their own", () => {
  const all = [
    old,
    secretOf([old]),
    secretOf([old], "creative"),
    secretOf([old], "login"),
    secretOf([old], "survival", forwardingKeyOf(old, { ...run, generation: 8 })),
    secretOf([old], "survival", forwardingKeyOf(old, { ...run, uid: "u-2" })),
    secretOf([next], "survival", forwardingKeyOf(next, run)),
    ...systemForwardingSecrets([old], "login"),
    ...systemForwardingSecrets([old], "lobby"),
    ...ticketSecrets([old]),
  ];
  assert.equal(new Set(all).size, all.length);
  for (const secret of all) assert.match(secret ?? "", /^[\w-]{43}$/);
});

test("a server that started with the old master is reached while the old one is known, whichever comes first", () => {
  assert.equal(secretOf([next, old]), secretOf([old]));
  assert.equal(secretOf([old, next]), secretOf([old]));
  assert.equal(secretOf([next]), undefined);
});

test("gate and lobby accept what either master signs", () => {
  const [first, second] = systemForwardingSecrets([next, old], "login");
  assert.deepEqual(
    [first, second],
    [...systemForwardingSecrets([next], "login"), ...systemForwardingSecrets([old], "login")],
  );
});

test("a key gives nothing away and is no secret of anybody", () => {
  assert.match(key, /^[0-9a-f]{12}\.[0-9a-f]{16}$/);
  for (const unknown of ["", "x", sharedForwardingKey, key.slice(1)]) {
    assert.equal(secretOf([old], "survival", unknown), undefined, unknown);
  }
});

test("one master a line, without the white space of its file", () => {
  assert.deepEqual(parseForwardingMasters(` ${next} \r\n\n${old}\n`), [next, old]);
});

const refused: Record<string, string> = {
  nothing: " \n",
  "a short one": "secret",
  "a short one behind a good one": `${next}\nsecret`,
  "too many": Array.from({ length: 5 }, () => next).join("\n"),
};
for (const [name, text] of Object.entries(refused)) {
  test(`${name} is refused with a sentence that does not hold it`, () => {
    assert.throws(
      () => parseForwardingMasters(text),
      (error: Error) => !error.message.includes(next) && !error.message.includes("secret\n"),
    );
  });
}
