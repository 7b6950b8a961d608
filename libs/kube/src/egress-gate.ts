// Holds a pod back until its network policy is enforced (docs/reference/server-resource.md#objects): what it must reach
// answers, and what it must not reach does not. In this order, for before the network is up nothing answers at all.

import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

type GateOptions = {
  /** Longest wait in milliseconds. */
  waitMs: number;
  /** `host:port` that a fenced pod reaches. */
  positiveProbe?: string | undefined;
  /** `host:port` that a fenced pod does not reach. */
  probe?: string | undefined;
};

const attemptMs = 1_000;
const pauseMs = 200;

/** Undefined when the policy is enforced; else, once the time is over, what is still wrong. */
export async function waitForFence(options: GateOptions): Promise<string | undefined> {
  const endAt = performance.now() + options.waitMs;
  for (;;) {
    const problem = await findProblem(options);
    if (problem === undefined || performance.now() + pauseMs >= endAt) return problem;
    await delay(pauseMs);
  }
}

async function findProblem({ positiveProbe, probe }: GateOptions): Promise<string | undefined> {
  if (positiveProbe && !(await answers(positiveProbe))) return `${positiveProbe} does not answer`;
  if (probe && (await answers(probe))) return `${probe} can be reached`;
  return undefined;
}

function answers(address: string): Promise<boolean> {
  const { host, port } = parseAddress(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (result: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => end(false), attemptMs);
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}

/** Reads `host:port`, also with an IPv6 address in brackets; throws one sentence. */
export function parseAddress(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65_535) throw new Error(`${JSON.stringify(text)} is not host:port`);
  return { host: match[1] ?? match[2] ?? "", port };
}
