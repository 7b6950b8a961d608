import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import { defaultLimits as limits } from "../limit-settings.ts";
import { type Destination, mayConnect, type Place } from "../session/place.ts";
import { afterGate, type Heard, type LinkVerdict, linkVerdict, subdomainOf } from "./policy.ts";

const minute = 60_000;

const linkRows: [linked: Heard, barred: Heard, linkedAt: number | undefined, wanted: LinkVerdict][] = [
  ["yes", "no", undefined, "released"],
  ["yes", "yes", 20 * minute, "barred"],
  ["silence", "yes", 20 * minute, "barred"],
  ["no", "no", 20 * minute, "not_linked"],
  ["no", "silence", 20 * minute, "not_linked"],
  ["silence", "silence", undefined, "unknown"],
  ["silence", "silence", 10 * minute + 1, "released"],
  ["silence", "silence", 10 * minute, "unknown"],
  ["silence", "silence", 21 * minute, "unknown"],
  ["yes", "silence", undefined, "unknown"],
  ["silence", "no", undefined, "unknown"],
  ["yes", "silence", 15 * minute, "released"],
  ["refused", "no", 20 * minute, "unknown"],
  ["yes", "refused", 20 * minute, "unknown"],
  ["silence", "refused", 20 * minute, "unknown"],
];
for (const [linked, barred, linkedAt, wanted] of linkRows) {
  const memory = linkedAt === undefined ? "nothing" : `a link ${20 - linkedAt / minute} min ago`;
  test(`linked ${linked}, barred ${barred}, remembering ${memory}: ${wanted}`, () => {
    assert.equal(linkVerdict({ linked, barred }, linkedAt, { now: 20 * minute, limits }), wanted);
  });
}

test("a new connection goes to the gate, and only released players leave it", () => {
  const server: Destination = { kind: "server", name: "survival" };
  const places: Place[] = [{ kind: "none" }, { kind: "gate" }, { kind: "lobby" }, server];
  const goals: Destination[] = [{ kind: "gate" }, { kind: "lobby" }, server];
  const open = (isReleased: boolean) =>
    places.flatMap((from) =>
      goals.filter((to) => mayConnect(from, to, isReleased)).map((to) => `${from.kind}>${to.kind}`),
    );
  assert.deepEqual(open(false), ["none>gate", "gate>gate", "lobby>gate", "server>gate"]);
  assert.deepEqual(open(true), [
    "none>gate",
    "gate>gate",
    "gate>lobby",
    "gate>server",
    "lobby>gate",
    "lobby>lobby",
    "lobby>server",
    "server>gate",
    "server>lobby",
    "server>server",
  ]);
});

const info: ServerInfo = {
  name: "survival",
  subdomain: "play",
  phase: "Stopped",
  ready: false,
  playersOnline: 0,
  playersMax: 20,
  idleStopSeconds: 600,
};

test("after the gate a ready target is joined, a stopped one woken, and a deleted one reported", () => {
  const running: ServerInfo = {
    ...info,
    phase: "Running",
    ready: true,
    endpointMode: "direct",
    endpointAddress: "a:1",
  };
  assert.deepEqual(
    afterGate(undefined, () => running),
    { go: "lobby" },
  );
  assert.deepEqual(
    afterGate("survival", () => running),
    { go: "server", name: "survival", address: "a:1" },
  );
  assert.deepEqual(
    afterGate("survival", () => info),
    { go: "lobby", wake: "survival" },
  );
  assert.deepEqual(
    afterGate("survival", () => undefined),
    { go: "lobby", notice: "serverGone", name: "survival" },
  );
});

const hosts: Record<string, string | undefined> = {
  "survival.play.example": "survival",
  "SURVIVAL.Play.Example.": "survival",
  "survival.play.example\0FML3\0": "survival",
  "play.example": undefined,
  "a.b.play.example": undefined,
  "survival.play.example.evil.test": undefined,
  "survivalplay.example": undefined,
  ".play.example": undefined,
  "-x.play.example": undefined,
  "../x.play.example": undefined,
  "127.0.0.1": undefined,
  "": undefined,
};
test("only one label before the root domain names a server", () => {
  for (const [host, wanted] of Object.entries(hosts)) {
    assert.equal(subdomainOf(host, "play.example"), wanted, JSON.stringify(host));
  }
  assert.equal(subdomainOf("survival.play.example", ""), undefined);
});
