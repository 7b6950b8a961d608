// Servers that are woken and stopped by people: all at once, or a few every second. Every change is a request at a gateway.

import { setTimeout as pause } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import { serverName } from "../bench/anchors/servers.ts";
import type { BenchStack } from "../bench/harness/stack.ts";
import type { Follower, Kind } from "./follow.ts";

type Changer = {
  /** Wakes this many sleeping servers as fast as they are accepted; seconds until the last one runs. */
  wakeAll: (count: number) => Promise<number>;
  /** Wakes and stops `perSecond` servers each second, in turn, until the signal. */
  keepChanging: (perSecond: number, signal: AbortSignal) => Promise<void>;
  refusals: () => Map<string, number>;
};

const atOnce = 16;
const allWithinMs = 300_000;

export function createChanger(stack: BenchStack, follower: Follower, count: number): Changer {
  const asleep = Array.from({ length: count }, (_, index) => serverName(index));
  const awake: string[] = [];
  const refused = new Map<string, number>();
  const change = async (kind: Kind, name: string): Promise<void> => {
    follower.begin(kind, name);
    const answer = await stack.external("POST", `/api/v1/servers/${name}/${kind}`).catch((error: Error) => ({
      status: 0,
      body: error.message,
    }));
    if (answer.status < 300 && answer.status > 0) {
      (kind === "wake" ? awake : asleep).push(name);
      return follower.accepted(name);
    }
    follower.forget(name);
    (kind === "wake" ? asleep : awake).unshift(name);
    const what = `${kind} ${answer.status} ${JSON.stringify(answer.body).slice(0, 160)}`;
    refused.set(what, (refused.get(what) ?? 0) + 1);
  };
  return {
    refusals: () => refused,
    wakeAll: async (wanted) => {
      const startedAt = performance.now();
      // Spread over the whole fleet, as names are over an installation.
      const step = Math.max(1, Math.floor(asleep.length / wanted));
      const names = asleep.filter((_, index) => index % step === 0).slice(0, wanted);
      for (const name of names) asleep.splice(asleep.indexOf(name), 1);
      const queue = names.values();
      const worker = async () => {
        for (const name of queue) await change("wake", name);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      await until(() => follower.waiting() === 0, allWithinMs, `${wanted} servers to run`);
      return (performance.now() - startedAt) / 1_000;
    },
    keepChanging: async (perSecond, signal) => {
      const startedAt = performance.now();
      const under: Promise<void>[] = [];
      for (let turn = 0; !signal.aborted; turn += 1) {
        const name = turn % 2 === 0 ? asleep.shift() : awake.shift();
        if (name !== undefined) under.push(change(turn % 2 === 0 ? "wake" : "stop", name));
        const waitMs = startedAt + ((turn + 1) * 1_000) / perSecond - performance.now();
        if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined);
      }
      await Promise.all(under);
    },
  };
}
