// The steps before a server starts, as init containers run them: `node main.ts init-volume --data /data`,
// `init-forwarding --data /data` with SVC_FORWARDING_SECRET_FILE, and
// `egress-gate --wait 30s [--fail-open] [--positive-probe host:port] [--probe host:port]`.
// Each says in one line of JSON what it did. A step that fails keeps the server from starting, and says why.

import { parseArgs } from "node:util";
import { waitForFence } from "@svc/kube/egress-gate";
import { recoverVolume } from "@svc/world";
import { checkVolume } from "./check-volume.ts";
import { forwardingSecret } from "./environment.ts";
import { initForwarding } from "./forwarding.ts";

const steps: Record<string, (args: string[]) => Promise<object> | object> = {
  "init-volume": (args) => {
    const { data } = parseArgs({ args, options: { data: { type: "string" } } }).values;
    return prepareVolume(need("--data", data));
  },
  "init-forwarding": (args) => {
    const { data } = parseArgs({ args, options: { data: { type: "string" } } }).values;
    return { written: initForwarding(need("--data", data), forwardingSecret()) };
  },
  "egress-gate": egressGate,
};

/** A restore that was killed half-way is carried through before any server sees the world. */
async function prepareVolume(data: string): Promise<object> {
  const { seen, closed, paths } = checkVolume(data);
  if (closed > 0)
    throw new Error(
      `${closed} of ${seen} files and folders of the world belong to other users and are closed to the game, ` +
        `such as ${paths.slice(0, 3).join(", ")}; give its volume away once, as root on its node: chown -R 1000:1000 FOLDER`,
    );
  const { completed, swept } = await recoverVolume(data);
  return { seen, ...(swept > 0 && { completed, swept }) };
}

async function egressGate(args: string[]): Promise<object> {
  const text = { type: "string" } as const;
  const options = {
    wait: text,
    "positive-probe": text,
    probe: text,
    "fail-open": { type: "boolean" },
  } as const;
  const { values } = parseArgs({ args, options });
  const problem = await waitForFence({
    waitMs: secondsOf(values.wait ?? "30s") * 1_000,
    positiveProbe: values["positive-probe"],
    probe: values.probe,
  });
  if (problem !== undefined && !values["fail-open"])
    throw new Error(`the egress policy is not enforced: ${problem}`);
  return problem === undefined ? { fenced: true } : { fenced: false, problem };
}

function secondsOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)s$/.exec(text);
  if (!match) throw new Error(`--wait ${JSON.stringify(text)} is not a time such as 30s`);
  return Number(match[1]);
}

function need(option: string, value: string | undefined): string {
  if (!value) throw new Error(`${option} is missing`);
  return value;
}

const [name = "", ...args] = process.argv.slice(2);
try {
  const step = steps[name];
  if (!step)
    throw new Error(
      `there is no step ${JSON.stringify(name)}; the steps are ${Object.keys(steps).join(", ")}`,
    );
  process.stdout.write(`${JSON.stringify({ step: name, ...(await step(args)) })}\n`);
} catch (error) {
  process.stderr.write(`${JSON.stringify({ step: name, error: (error as Error).message })}\n`);
  process.exitCode = 1;
}
