import assert from "node:assert/strict";
import { test } from "node:test";
import { type ControlFrame, decodeControl, encodeControl } from "./control.ts";

const samples: [ControlFrame, string][] = [
  [{ type: "ListRequest" }, '{"type":"ListRequest"}'],
  [
    { type: "ListUpdate", servers: ["a"], access: [""] },
    '{"type":"ListUpdate","servers":["a"],"access":[""]}',
  ],
  [{ type: "ListUpdate", servers: ["a"] }, '{"type":"ListUpdate","servers":["a"]}'],
  [{ type: "StatusQuery", server: "a" }, '{"type":"StatusQuery","server":"a"}'],
  [
    {
      type: "StatusUpdate",
      server: "a",
      phase: null,
      ready: true,
      playersOnline: 1,
      playersMax: 2,
      claimable: false,
    },
    '{"type":"StatusUpdate","server":"a","phase":null,"ready":true,"playersOnline":1,"playersMax":2,"claimable":false}',
  ],
  [
    {
      type: "StatusUpdate",
      server: "a",
      phase: "Stopped",
      ready: false,
      playersOnline: 0,
      playersMax: 0,
      claimable: false,
      startSeconds: 40,
    },
    '{"type":"StatusUpdate","server":"a","phase":"Stopped","ready":false,"playersOnline":0,"playersMax":0,"claimable":false,"startSeconds":40}',
  ],
  [{ type: "WakeRequest", player: null, server: "a" }, '{"type":"WakeRequest","player":null,"server":"a"}'],
  [{ type: "ClaimRequest", player: null, server: "a" }, '{"type":"ClaimRequest","player":null,"server":"a"}'],
  [{ type: "TransferReady", player: "p", server: "a" }, '{"type":"TransferReady","player":"p","server":"a"}'],
  [{ type: "Error", code: "busy", message: "m" }, '{"type":"Error","code":"busy","message":"m"}'],
  [
    { type: "Error", code: "x", message: null, server: "a" },
    '{"type":"Error","code":"x","message":null,"server":"a"}',
  ],
  [{ type: "LoginRelease", player: null }, '{"type":"LoginRelease","player":null}'],
];
for (const [frame, wire] of samples) {
  test(`${wire} is written and read as it is`, () => {
    assert.equal(encodeControl(frame).toString(), wire);
    assert.deepEqual(decodeControl(Buffer.from(wire)), frame);
  });
}

for (const wire of [
  "",
  "[]",
  "null",
  "1",
  '{"a":1}',
  '{"type":1}',
  '{"type":"constructor"}',
  '{"type":"x"}',
  "{",
  "\xff",
]) {
  test(`the frame ${JSON.stringify(wire)} is dropped`, () => {
    assert.equal(decodeControl(Buffer.from(wire, "latin1")), undefined);
  });
}

test("missing and mistyped fields read as null, 0 or false, and fields of other types are not taken over", () => {
  assert.deepEqual(
    decodeControl(Buffer.from('{"type":"StatusUpdate","ready":"yes","playersOnline":"1","extra":1}')),
    {
      type: "StatusUpdate",
      server: null,
      phase: null,
      ready: false,
      playersOnline: 0,
      playersMax: 0,
      claimable: false,
    },
  );
});

test("a frame beyond the limit of a plugin message is neither written nor read", () => {
  assert.throws(() => encodeControl({ type: "StatusQuery", server: "x".repeat(40_000) }), RangeError);
  assert.equal(decodeControl(Buffer.from(`{"type":"ListRequest"}${" ".repeat(40_000)}`)), undefined);
});
