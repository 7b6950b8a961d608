import assert from "node:assert/strict";
import { test } from "node:test";
import { openTicket, sealTicket } from "./ticket.ts";

const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const secret = "shared";
const good = sealTicket({ player, server: "survival", until: 2_000 }, secret);
const reader = { player, secrets: ["the next", secret], now: 1_000 };
const flipped = (index: number) => Buffer.from(good.map((byte, at) => (at === index ? byte ^ 1 : byte)));

test("a ticket says the server that it was made for", () => {
  assert.equal(openTicket(good, reader), "survival");
});

const bad: Record<string, [Buffer, Partial<typeof reader>?]> = {
  "of somebody else": [good, { player: "069a79f4-44e9-4726-a5be-fca90e38aaf6" }],
  "signed with another secret": [good, { secrets: ["other"] }],
  "read without a secret": [sealTicket({ player, server: "survival", until: 2_000 }, ""), { secrets: [] }],
  "whose time is over": [good, { now: 2_000 }],
  "with a changed signature": [flipped(0)],
  "with a changed time": [flipped(33)],
  "with a changed server": [flipped(good.length - 1)],
  "that was cut": [good.subarray(0, 20)],
  "that is empty": [Buffer.alloc(0)],
  "for a name that is none": [sealTicket({ player, server: "../x y", until: 2_000 }, secret)],
};
for (const [name, [bytes, change]] of Object.entries(bad)) {
  test(`a ticket ${name} says nothing`, () => {
    assert.equal(openTicket(bytes, { ...reader, ...change }), undefined);
  });
}
