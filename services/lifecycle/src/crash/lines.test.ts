// Which log is read of a run that has ended, while the node already starts the next one.

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { KubeError, type Pod } from "@svc/kube";
import { aPod, secondsBefore } from "../testing/observed.ts";
import { endedRunOf } from "./ended-run.ts";
import { readLastLines } from "./lines.ts";

const end = { exitCode: 1, startedAt: secondsBefore(60), finishedAt: secondsBefore(5), containerID: "first" };
const ended = { restartCount: 0, state: { terminated: end } };
const restarted = {
  restartCount: 1,
  state: { running: { startedAt: secondsBefore(4) } },
  lastState: { terminated: end },
};
const ours = [`${secondsBefore(50)} Done (1.2s)!`, `${secondsBefore(5)} Out of memory`];
const next = [`${secondsBefore(3)} Starting`];

type Status = typeof ended | typeof restarted;
/** What the cluster says of the pod, and what the node gives out as its current and its previous log. */
type Moment = { status: Status; current: string[]; previous?: string[] };

/** Reads the lines while the cluster goes from moment to moment, one with each read of the log. */
async function read(moments: readonly [Moment, ...Moment[]]) {
  let reads = 0;
  const moment = () => moments[Math.min(reads, moments.length - 1)] ?? moments[0];
  const podOf = ({ status }: Moment): Pod => ({
    ...aPod({ isReady: false }),
    status: { containerStatuses: [{ name: "minecraft", ...status }] },
  });
  const transport = {
    open: async ({ query }: { query: { previous?: boolean } }) => {
      const { current, previous } = moment();
      const lines = query.previous ? previous : current;
      reads += 1;
      if (lines === undefined) throw new KubeError(400, "BadRequest", "no such log");
      const response = new PassThrough();
      response.end(lines.map((line) => `${line}\n`).join(""));
      return Object.assign(response, { socket: { setKeepAlive: () => {} } });
    },
  };
  const run = endedRunOf(podOf(moments[0])) ?? assert.fail();
  const kube = { transport, find: async () => podOf(moment()) };
  return readLastLines({ kube, namespace: "minecraft", lineBytes: 512 } as never, {
    ...{ name: "survival", run },
    signal: AbortSignal.timeout(60_000),
  });
}

const wanted = ["Done (1.2s)!", "Out of memory"];

test("the log of a container that is not restarted", async () => {
  assert.deepEqual(await read([{ status: ended, current: ours }]), wanted);
});

test("the previous log of a container that was restarted", async () => {
  assert.deepEqual(await read([{ status: restarted, current: next, previous: ours }]), wanted);
});

for (const [what, current] of [
  ["nothing", []],
  ["a line", next],
] as const)
  test(`the node starts the next run, which printed ${what}, before the cluster says so`, async () => {
    const early = { status: ended, current: [...current] };
    assert.deepEqual(await read([early, { status: restarted, current: next, previous: ours }]), wanted);
  });

test("a run that printed nothing has no lines, and those of the next are not its own", async () => {
  assert.deepEqual(await read([{ status: ended, current: [] }]), []);
  assert.deepEqual(await read([{ status: restarted, current: next, previous: [] }]), []);
});
