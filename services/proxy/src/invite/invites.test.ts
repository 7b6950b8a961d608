import assert from "node:assert/strict";
import { test } from "node:test";
import { createInvites } from "./invites.ts";

function fixture() {
  const clock = { now: 0 };
  const invites = createInvites({ ttlMs: 60_000, cooldownMs: 30_000, now: () => clock.now });
  const show = (from: string, to: string) => {
    const card = invites.make(from, "survival");
    invites.keep(card, to);
    invites.began(from);
    return card;
  };
  return { clock, invites, show };
}

test("the live card is accepted once, by the one who got it and by its name", () => {
  const { invites, show } = fixture();
  const card = show("alice", "bob");
  assert.equal(invites.accept("carol", card.id), undefined);
  assert.equal(invites.accept("bob", "guess"), undefined);
  assert.deepEqual(invites.accept("bob", card.id), card);
  assert.equal(invites.accept("bob", card.id), undefined);
});

test("a newer card replaces the older", () => {
  const { invites, show } = fixture();
  const [first, second] = [show("alice", "bob"), show("dave", "bob")];
  assert.equal(invites.accept("bob", first.id), undefined);
  assert.deepEqual(invites.accept("bob", second.id), second);
});

test("a card is over after a minute, and when the invited player leaves", () => {
  const { clock, invites, show } = fixture();
  const late = show("alice", "bob");
  clock.now = 60_000;
  assert.equal(invites.accept("bob", late.id), undefined);
  const lost = show("alice", "bob");
  invites.forget("bob");
  assert.equal(invites.accept("bob", lost.id), undefined);
});

test("a sender has one cooldown for everybody, charged when a card is shown and kept when they reconnect", () => {
  const { clock, invites, show } = fixture();
  invites.make("alice", "survival");
  assert.equal(invites.waitOf("alice"), 0);
  show("alice", "bob");
  invites.forget("alice");
  assert.equal(invites.waitOf("alice"), 30_000);
  assert.equal(invites.waitOf("dave"), 0);
  clock.now = 30_000;
  assert.equal(invites.waitOf("alice"), 0);
});
