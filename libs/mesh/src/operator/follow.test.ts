import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import type { FollowedEvent, Mesh } from "../api.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;
let lifecycle: Mesh;
let operator: Mesh;

before(async () => {
  nats = await startTestNats();
  [lifecycle, operator] = await Promise.all([nats.connect("lifecycle"), nats.connect("operator")]);
});
after(async () => {
  await Promise.all([lifecycle?.drain(500), operator?.drain(500)]);
  await nats?.stop();
});

let number = 0;
const tell = (key: string) => {
  const body = new TextEncoder().encode(JSON.stringify({ key }));
  return lifecycle.publish([
    { id: `e-${++number}`, subject: `svc.evt.lifecycle.server.claimed.${key}`, body },
  ]);
};
const keyOf = ({ subject }: FollowedEvent) => subject.slice(subject.lastIndexOf(".") + 1);

test("an operator gets what was stored since a time, then the end of it, then new events", async () => {
  const since = new Date();
  await tell("one");
  await tell("two");
  const told: string[] = [];
  const filter = "svc.evt.lifecycle.server.claimed.*";
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: filter, since },
    onEvent: (event) => told.push(keyOf(event)),
    onCaughtUp: () => told.push("caught up"),
  });
  await until(() => told.includes("caught up"));
  await tell("three");
  await until(() => told.includes("three"));
  assert.deepEqual(told, ["one", "two", "caught up", "three"]);
  await reader.close();
});

test("a follower of a subject gets that subject only, and nothing that no service published", async () => {
  const told: string[] = [];
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: "svc.evt.lifecycle.server.claimed.mine", since: new Date() },
    onEvent: (event) => told.push(String(event.sequence)),
    onCaughtUp: () => told.push("caught up"),
  });
  await until(() => told.length === 1);
  const user = "builds";
  const thief = await connect({ servers: nats.url, user, pass: nats.passwords[user] ?? "" });
  thief.publish("svc.audit.builds", "{}", { reply: "svc.evt.lifecycle.server.claimed.mine" });
  await thief.flush();
  await thief.close();
  for (const key of ["other", "mine", "other", "mine"]) await tell(key);
  await until(() => told.length === 3);
  await reader.close();
});

test("a follower continues after NATS was restarted, without duplicates", async () => {
  const told: string[] = [];
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: "svc.evt.lifecycle.>", since: new Date() },
    onEvent: (event) => told.push(keyOf(event)),
  });
  await tell("before");
  await until(() => told.includes("before"));
  await nats.kill();
  await nats.start();
  await until(() => lifecycle.status().connected && operator.status().connected);
  await tell("after");
  await until(() => told.includes("after"), 20_000);
  assert.deepEqual(told, ["before", "after"]);
  await reader.close();
});
