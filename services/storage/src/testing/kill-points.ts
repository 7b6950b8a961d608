// Tables of deaths: whatever takes part in a transfer is killed or hangs at one of its steps; afterwards the world is what it was
// or what it was to be, bit for bit; nothing stays locked, staged, running or half told; and a second try works.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/mesh/testing";
import type { files } from "@svc/proto";
import { hangMs } from "./outage.ts";
import { insist, type PatientClient } from "./retrying-client.ts";
import { openTransferBed, type Step, type TransferBed, type Victim } from "./transfer-fixture.ts";

export type Point = { step: Step; victims: readonly Victim[] };
type Fate = "dies" | "hangs";
type Death = { step: Step; victim: Victim; fate: Fate; client: PatientClient };
type Op = files.FileOp;

export const core = ["storage", "NATS", "PostgreSQL", "the cluster"] as const;
export const asked = [...core, "the external gateway"] as const;
export const all = [...core, "the internal gateway", "the agent"] as const;

/** What the world of each server holds before somebody sends it something. */
export const oldFiles = { "level.dat": "one", "mods/new.jar": "old", "mods/other.jar": "stays" };
/** No answer besides those that are always forgivable. */
export const never = /(?!)/;

const nameOf = (step: Step) =>
  typeof step === "string"
    ? step
    : `${step.bytes} bytes of a Job's ${step.method} have gone ${step.direction}`;

export type Deaths = {
  bed: () => TransferBed;
  /** A server of its own for each point, so that nothing of the one before counts. */
  newServer: (files: Record<string, string>) => Promise<string>;
  /** Runs it with the death in the middle. */
  dieAt: (death: Death, work: () => Promise<void>) => Promise<void>;
  /** Nothing is left that anybody would have to clear up or wait for. */
  assertAtRest: (server: string) => Promise<void>;
  /** A test for each victim at each point, which dies there, and one for each point where one of them hangs. */
  table: (
    what: string,
    points: readonly Point[],
    drive: (point: { step: Step; victim: Victim; fate: Fate }) => Promise<void>,
  ) => void;
};

/** `sample` tells which of the tests, counted from 0, are driven. */
export function describeDeaths(
  what: string,
  sample: (count: number) => { skip: string | false },
  fill: (deaths: Deaths) => void,
): void {
  describe(`kill -9 and SIGSTOP in the middle of ${what}`, () => {
    let opened: TransferBed | undefined;
    before(async () => {
      opened = await openTransferBed();
    });
    after(() => opened?.close());
    const bed = () => {
      assert.ok(opened);
      return opened;
    };
    let [servers, count] = [0, 0];
    fill({
      bed,
      newServer: async (files) => {
        const name = `dies-${servers++}`;
        await bed().stage.addServer(name, "usr-1", files);
        return name;
      },
      dieAt: (death, work) => dieAt(bed(), death, work),
      assertAtRest: (server) => assertAtRest(bed(), server),
      table: (told, points, drive) => {
        for (const [row, { step, victims }] of points.entries()) {
          const hanging = victims[row % victims.length] ?? victims[0];
          const fates = [
            ...victims.map((victim) => ({ victim, fate: "dies" as const })),
            ...(hanging ? [{ victim: hanging, fate: "hangs" as const }] : []),
          ];
          for (const { victim, fate } of fates) {
            const fact = `${victim} ${fate} when ${nameOf(step)}: ${told}`;
            test(fact, sample(count), () => drive({ step, victim, fate }));
            count += 1;
          }
        }
      },
    });
  });
}

async function dieAt(bed: TransferBed, { step, victim, fate, client }: Death, work: () => Promise<void>) {
  const reached = bed.stopAt(step).then(() => "reached" as const);
  const mended = reached.then(async () => {
    if (fate === "dies") await bed.kill(victim);
    else bed.hang(victim);
    bed.goOn();
    if (fate === "hangs") await delay(hangMs);
    else if (victim === "storage") client.hurry();
    await bed.mend();
  });
  const done = work();
  done.catch(() => {});
  mended.catch(() => {});
  // Some steps come about behind the last answer.
  const missed = done.then(() => delay(5_000, "missed" as const, { ref: false }));
  assert.equal(await Promise.race([reached, missed]), "reached", "the step came about");
  await Promise.all([done, mended]);
}

async function assertAtRest(bed: TransferBed, server: string): Promise<void> {
  await until(() => bed.isFree(server), 10_000);
  await until(() => readdirSync(bed.stagingDir).length === 0, 40_000);
  const hidden = readdirSync(bed.worldDir(server)).filter((name) => name.startsWith(".svc-"));
  assert.deepEqual(hidden, []);
}

/** The operation when it has ended, or `unknown`. */
export async function ended(client: PatientClient, server: string, id: string): Promise<Op | "unknown"> {
  return insist(client, "the end of the operation", async () => {
    const answer = await client.ask(`/api/v1/servers/${server}/files/ops`);
    if (!answer) return undefined;
    const op = (answer.body["ops"] as Op[]).find((one) => one.id === id);
    if (!op) return "unknown";
    return op.state === "running" ? undefined : op;
  });
}
