import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import {
  dayOf,
  type Facts,
  firstDay,
  type MaintenanceWindow,
  minuteAs,
  stateOf,
  toOverview,
  toStatusPage,
  toStatusServer,
} from "./rules.ts";

const now = Date.parse("2026-11-24T21:00:30.000Z");
const info = (more: Partial<ServerInfo> = {}): ServerInfo => ({
  ...{ name: "inner-name", subdomain: "survival", phase: "Stopped", ready: false },
  ...{ playersOnline: 0, playersMax: 20, idleStopSeconds: 600, desiredState: "Stopped" },
  ...more,
});
const facts = (more: Partial<ServerInfo> = {}, rest: Partial<Facts> = {}): Facts => ({
  ...{ info: info(more), isRetiring: false, windows: [] },
  ...rest,
});
const running = { phase: "Running", ready: true, playersOnline: 3 } as const;
const ready = (reason: string) => ({
  ...({ type: "Ready", status: "False", reason, message: "node-7 10.0.0.3 is away" } as const),
  lastTransitionTime: "2026-11-24T20:00:00.000Z",
});
const window = (minutes: number, isPublic: boolean): MaintenanceWindow => ({
  endsAt: now + minutes * 60_000,
  isPublic,
});
const inMinutes = (minutes: number) => new Date(now + minutes * 60_000).toISOString();

describe("the state that everybody reads", () => {
  const estimate = { startRequestedAt: inMinutes(-1), startEstimate: { p50: 90, p95: 200 } };
  const rows: [fact: string, facts: Facts, state: ReturnType<typeof stateOf>][] = [
    ["a stopped server sleeps", facts(), { state: "asleep" }],
    ["a running one is online", facts(running), { state: "online", players: { online: 3, max: 20 } }],
    [
      "an uncounted one names no players",
      facts({ ...running, playerCountUnknown: true }),
      { state: "online" },
    ],
    ["one that runs and is not ready starts", facts({ phase: "Running" }), { state: "starting" }],
    [
      "a start is expected to end when half of them had",
      facts({ phase: "Starting", ...estimate }),
      { state: "starting", ready_at: inMinutes(0.5) },
    ],
    ["a first start has no estimate", facts({ phase: "Starting" }), { state: "starting" }],
    ["one that stops goes to sleep", facts({ phase: "Stopping" }), { state: "stopping" }],
    ["a failed start is no more than unavailable", facts({ phase: "Failed" }), { state: "unavailable" }],
    ["so is what is not known", facts({ phase: "Unknown" }), { state: "unavailable" }],
    [
      "so is one on a lost node",
      facts({ ...running, conditions: [ready("NodeUnavailable")] }),
      { state: "unavailable" },
    ],
    [
      "work on a sleeping world is nobody's business",
      facts({ conditions: [ready("MaintenanceInProgress")] }),
      { state: "asleep" },
    ],
    ["one that is given up cannot be woken", facts({}, { isRetiring: true }), { state: "unavailable" }],
    [
      "maintenance keeps a sleeping server asleep until its end",
      facts({}, { windows: [window(30, true)] }),
      { state: "maintenance", until: inMinutes(30) },
    ],
    [
      "of several the last end counts",
      facts({}, { windows: [window(90, true), window(30, true)] }),
      { state: "maintenance", until: inMinutes(90) },
    ],
    [
      "maintenance that was not announced to everybody has no end",
      facts({}, { windows: [window(30, false)] }),
      { state: "unavailable" },
    ],
    [
      "nor does its end show beside another",
      facts({}, { windows: [window(30, true), window(90, false)] }),
      { state: "maintenance", until: inMinutes(30) },
    ],
    [
      "maintenance stops nobody who plays",
      facts(running, { windows: [window(30, true)] }),
      { state: "online", players: { online: 3, max: 20 } },
    ],
  ];
  for (const [fact, given, state] of rows) test(fact, () => assert.deepEqual(stateOf(given), state));
});

describe("a page", () => {
  const rootDomain = "example.net";
  const since = new Date("2026-11-01T00:00:00.000Z");
  const pageOf = (given: Facts, days: { day: string; known_minutes: number }[] = []) => {
    const counted = days.map((day) => ({ ...day, down_minutes: 0, planned_minutes: 0 }));
    return toStatusPage(given, { rootDomain, since, days: counted, now });
  };

  test("has nothing of what is inside, whatever the server is", () => {
    const inside = {
      ...{ nodeName: "node-7", endpointAddress: "10.0.0.3", image: "registry/secret:1", memory: "4Gi" },
      ...{ tags: [{ name: "vip", colour: "red" as const }], forwardingKey: "key-1", startGaveUp: true },
      ...{ conditions: [ready("ImagePullFailed")], autostartPolicy: "ownerOnly" as const },
    };
    for (const phase of ["Stopped", "Starting", "Running", "Stopping", "Failed", "Unknown"] as const) {
      const text = JSON.stringify(pageOf(facts({ ...inside, phase, motd: "§aHello" })));
      assert.doesNotMatch(text, /inner-name|node-7|10\.0\.0|secret|vip|key-1|Pull|ownerOnly|4Gi/, phase);
    }
  });

  test("is called as its owner calls it, else as players join it", () => {
    assert.equal(pageOf(facts({ displayName: "Our World" }))?.name, "Our World");
    const page = pageOf(facts());
    assert.deepEqual([page?.name, page?.address], ["survival", "survival.example.net"]);
  });

  test("has the text of the server list without formatting", () => {
    assert.equal(pageOf(facts({ motd: "§6Gold\n§rrush" }))?.motd, "Gold rush");
    assert.equal(pageOf(facts({ motd: "§k" }))?.motd, undefined);
  });

  test("tells of the last 90 days with today", () => {
    assert.equal(firstDay(now), "2026-08-27");
    const days = ["2026-08-26", "2026-08-27", "2026-11-24"].map((day) => ({ day, known_minutes: 5 }));
    assert.deepEqual(
      pageOf(facts(), days)?.days.map(({ day }) => day),
      ["2026-08-27", "2026-11-24"],
    );
    assert.equal(dayOf(Date.parse("2026-11-24T23:59:59.999Z")), "2026-11-24");
  });

  test("of servers of the platform there is none", () => {
    for (const name of ["lobby", "login"]) {
      assert.equal(toStatusServer(facts({ name }), { rootDomain }), undefined);
      assert.equal(pageOf(facts({ name })), undefined);
    }
  });
});

test("a minute is down only while nobody could join or wake, and planned in maintenance", () => {
  const states = ["online", "starting", "stopping", "asleep", "maintenance", "unavailable"] as const;
  assert.deepEqual(states.map(minuteAs), ["up", "up", "up", "up", "planned", "down"]);
});

test("the list is in the order of names, and says how many more there are", () => {
  const servers = ["World 10", "world 9", "Anvil"].flatMap(
    (displayName) => toStatusServer(facts({ displayName }), { rootDomain: "example.net" }) ?? [],
  );
  const { servers: listed, more } = toOverview(servers, { now, most: 2 });
  assert.deepEqual([listed.map(({ name }) => name), more], [["Anvil", "world 9"], 1]);
});
