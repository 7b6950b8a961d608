// Kill points: each participant of a transfer is killed or hangs at each step. Afterwards the world is bit for bit what it
// was or what it was meant to become; nothing stays locked, staged, running or half recorded; and a retry succeeds.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/mesh/testing";
import type { files } from "@svc/proto";
import { hangMs } from "./outage.ts";
import { type RetryingClient, retryUntil } from "./retrying-client.ts";
import { openTransferFixture, type Step, type TransferFixture, type Victim } from "./transfer-fixture.ts";

export type StepVictims = { step: Step; victims: readonly Victim[] };
type Failure = "dies" | "hangs";
type KillPoint = { step: Step; victim: Victim; fate: Failure; client: RetryingClient };
type Op = files.FileOp;

export const core = ["storage", "NATS", "PostgreSQL", "the cluster"] as const;
export const asked = [...core, "the external gateway"] as const;
export const all = [...core, "the internal gateway", "the agent"] as const;

/** Files in each server's world before the transfer. */
export const oldFiles = { "level.dat": "one", "mods/new.jar": "old", "mods/other.jar": "stays" };
/** No response other than those that are always allowed. */
export const noOtherAnswer = /(?!)/;

const nameOf = (step: Step) =>
  typeof step === "string"
    ? step
    : `${step.bytes} bytes of a Job's ${step.method} have gone ${step.direction}`;

type KillPoints = {
  fixture: () => TransferFixture;
  /** A separate server for each kill point, so that they do not affect each other. */
  newServer: (files: Record<string, string>) => Promise<string>;
  /** Runs `work` and lets the victim fail at the step. */
  killAt: (point: KillPoint, work: () => Promise<void>) => Promise<void>;
  /** Nothing is left to clean up or to wait for. */
  assertNothingLeft: (server: string) => Promise<void>;
  /** For each step one test per victim that is killed there, and one in which a victim hangs. */
  table: (
    what: string,
    points: readonly StepVictims[],
    drive: (point: { step: Step; victim: Victim; fate: Failure }) => Promise<void>,
  ) => void;
};

/** `settings` is asked before storage starts. */
type Filling = { fill: (points: KillPoints) => void; settings: () => readonly string[] };

/** `sample` selects which tests run, by their number from 0. */
export function describeKillPoints(
  what: string,
  sample: (count: number) => { skip: string | false },
  filling: ((points: KillPoints) => void) | Filling,
): void {
  const { fill, settings } = typeof filling === "function" ? { fill: filling, settings: () => [] } : filling;
  describe(`kill -9 and SIGSTOP in the middle of ${what}`, () => {
    let opened: TransferFixture | undefined;
    before(async () => {
      opened = await openTransferFixture(settings());
    });
    after(() => opened?.close());
    const fixture = () => {
      assert.ok(opened);
      return opened;
    };
    let [servers, count] = [0, 0];
    fill({
      fixture,
      newServer: async (files) => {
        const name = `dies-${servers++}`;
        await fixture().base.addServer(name, "usr-1", files);
        return name;
      },
      killAt: (point, work) => killAt(fixture(), point, work),
      assertNothingLeft: (server) => assertNothingLeft(fixture(), server),
      table: (expectation, points, drive) => {
        for (const [row, { step, victims }] of points.entries()) {
          const hanging = victims[row % victims.length] ?? victims[0];
          const fates = [
            ...victims.map((victim) => ({ victim, fate: "dies" as const })),
            ...(hanging ? [{ victim: hanging, fate: "hangs" as const }] : []),
          ];
          for (const { victim, fate } of fates) {
            const fact = `${victim} ${fate} when ${nameOf(step)}: ${expectation}`;
            test(fact, sample(count), () => drive({ step, victim, fate }));
            count += 1;
          }
        }
      },
    });
    // Staged files of a dead process are swept once nobody can write them any more: one wait covers all of them.
    test("in the end nothing is left on the upload volume", async () => {
      await until(() => readdirSync(fixture().stagingDir).length === 0, 60_000);
    });
  });
}

async function killAt(
  fixture: TransferFixture,
  { step, victim, fate, client }: KillPoint,
  work: () => Promise<void>,
) {
  const reached = fixture.pauseAt(step).then(() => "reached" as const);
  const recovered = reached.then(async () => {
    if (fate === "dies") await fixture.kill(victim);
    else fixture.hang(victim);
    fixture.resume();
    if (fate === "hangs") await delay(hangMs);
    else if (victim === "storage") client.abortWaiting();
    await fixture.recover();
  });
  const done = work();
  done.catch(() => {});
  recovered.catch(() => {});
  // Some steps happen after the last response.
  const missed = done.then(() => delay(5_000, "missed" as const, { ref: false }));
  assert.equal(await Promise.race([reached, missed]), "reached", "the step was reached");
  await Promise.all([done, recovered]);
}

async function assertNothingLeft(fixture: TransferFixture, server: string): Promise<void> {
  await until(() => fixture.isFree(server), 10_000);
  const hidden = readdirSync(fixture.worldDir(server)).filter((name) => name.startsWith(".svc-"));
  assert.deepEqual(hidden, []);
}

/** The operation when it has ended, or `unknown`. */
export async function ended(client: RetryingClient, server: string, id: string): Promise<Op | "unknown"> {
  return retryUntil(client, "the end of the operation", async () => {
    const answer = await client.ask(`/api/v1/servers/${server}/files/ops`);
    if (!answer) return undefined;
    const op = (answer.body["ops"] as Op[]).find((one) => one.id === id);
    if (!op) return "unknown";
    return op.state === "running" ? undefined : op;
  });
}
