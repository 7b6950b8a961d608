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
  const received: string[] = [];
  const filter = "svc.evt.lifecycle.server.claimed.*";
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: filter, since },
    onEvent: (event) => received.push(keyOf(event)),
    onCaughtUp: () => received.push("caught up"),
  });
  await until(() => received.includes("caught up"));
  await tell("three");
  await until(() => received.includes("three"));
  assert.deepEqual(received, ["one", "two", "caught up", "three"]);
  await reader.close();
});

test("a follower of a subject gets that subject only, and nothing that no service published", async () => {
  const received: string[] = [];
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: "svc.evt.lifecycle.server.claimed.mine", since: new Date() },
    onEvent: (event) => received.push(String(event.sequence)),
    onCaughtUp: () => received.push("caught up"),
  });
  await until(() => received.length === 1);
  const user = "builds";
  const thief = await connect({ servers: nats.url, user, pass: nats.passwords[user] ?? "" });
  thief.publish("svc.audit.builds", "{}", { reply: "svc.evt.lifecycle.server.claimed.mine" });
  await thief.flush();
  await thief.close();
  for (const key of ["other", "mine", "other", "mine"]) await tell(key);
  await until(() => received.length === 3);
  await reader.close();
});

test("a follower continues after NATS was restarted, without duplicates", async () => {
  const received: string[] = [];
  const reader = operator.follow({
    ...{ stream: "LIFECYCLE", subject: "svc.evt.lifecycle.server.claimed.restarts", since: new Date() },
    onEvent: ({ data }) => received.push(String((data as { at: string }).at)),
  });
  const tell = (at: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ at }));
    const subject = "svc.evt.lifecycle.server.claimed.restarts";
    return lifecycle.publish([{ id: `e-${++number}`, subject, body }]);
  };
  await tell("before");
  await until(() => received.includes("before"));
  await nats.kill();
  await nats.start();
  await until(() => lifecycle.status().connected && operator.status().connected);
  await tell("after");
  await until(() => received.includes("after"), 20_000);
  assert.deepEqual(received, ["before", "after"]);
  await reader.close();
});
