// Viewers of event streams on bare sockets: they find the stamps in what arrives and note how old each is.

import { connect, type Socket } from "node:net";
import { serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";
import { requestText } from "./http.ts";

export type StreamPlan = { port: number; paths: readonly string[]; headers: Record<string, string> };
export type StreamResult = { lines: number; p50Ms: number; p99Ms: number };

const sockets = new Set<Socket>();
let ages: number[] = [];

function open(plan: StreamPlan, path: string): Promise<void> {
  const request = { host: "127.0.0.1", port: plan.port, method: "GET", path, headers: plan.headers };
  const socket = connect({ host: "127.0.0.1", port: plan.port, noDelay: true });
  sockets.add(socket);
  let held = "";
  return new Promise((settle, fail) => {
    socket.once("error", fail).write(requestText(request), "latin1");
    socket.on("data", (chunk) => {
      const nowNs = process.hrtime.bigint();
      const text = held + chunk.toString("latin1");
      if (/^HTTP\/1\.1 (?!200)/.test(text)) return fail(new Error(`${path}: ${text.slice(0, 300)}`));
      settle();
      for (const [, ns = "0"] of text.matchAll(/\bt (\d{6,20})[ \n]/g))
        ages.push(Number(nowNs - BigInt(ns)) / 1e6);
      // A stamp that the end of the chunk has cut is read with the next one.
      held = /\bt? ?\d*$/.exec(text)?.[0] ?? "";
    });
  });
}

serveParent({
  /** Opens one stream for each path, fifty at a time. */
  open: async (plan: StreamPlan) => {
    for (let from = 0; from < plan.paths.length; from += 50)
      await Promise.all(plan.paths.slice(from, from + 50).map((path) => open(plan, path)));
  },
  /** What arrived since this was asked last. */
  take: (): StreamResult => {
    const sorted = Float64Array.from(ages).sort();
    ages = [];
    return { lines: sorted.length, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
  },
  close: () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    ages = [];
  },
});
