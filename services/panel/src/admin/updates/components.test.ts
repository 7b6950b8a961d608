import assert from "node:assert/strict";
import { test } from "node:test";
import { health as words } from "../../words/en/health.ts";
import { type Component, commandOf, headlineOf, inOrder, nameOf, noteOf } from "./components.ts";

const component = (state: Component["state"], about: Partial<Component> = {}): Component => ({
  name: "nats",
  state,
  ...about,
});

for (const [sentence, given, note] of [
  ["a feed that cannot be read says why", component("unknown", { error: "HTTP 500" }), "HTTP 500"],
  [
    "without a feed its setting is named",
    component("unknown", { note: "No feed is configured." }),
    words.updates.noFeed("ops_watchdog.feed_nats"),
  ],
  ["a pinned one says so", component("pinned", { note: "Pinned by a setting." }), words.updates.pinned],
  ["the note of a feed is shown", component("available", { note: "Repairs a crash." }), "Repairs a crash."],
  ["one that is current needs none", component("current"), ""],
] as const) {
  test(sentence, () => assert.equal(noteOf(given, words), note));
}

for (const [sentence, states, headline] of [
  ["says how many updates there are", ["available", "unknown"], words.updates.available(1)],
  [
    "does not call what is not known current",
    ["current", "unknown", "unreadable"],
    words.updates.noneKnown(2),
  ],
  ["says that all are current, or pinned", ["current", "pinned"], words.updates.noneAvailable],
] as const) {
  test(`the headline of a report ${sentence}`, () => {
    const components = states.map((state) => component(state));
    assert.equal(headlineOf(components, words), headline);
  });
}

test("a component without a known name has its own", () => {
  assert.equal(nameOf(component("current"), words), "NATS");
  assert.equal(nameOf(component("current", { name: "redis" }), words), "redis");
});

test("updates and what cannot be read come first", () => {
  const states = (["current", "unreadable", "pinned", "available"] as const).map((state) => component(state));
  assert.deepEqual(
    inOrder(states).map(({ state }) => state),
    ["available", "unreadable", "current", "pinned"],
  );
});

test("how to apply it is a command of svc", () => {
  assert.equal(commandOf(component("available", { selector: "--nats" })), "svc update --nats");
  assert.equal(commandOf(component("available")), undefined);
});
