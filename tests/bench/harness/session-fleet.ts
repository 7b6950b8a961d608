// What a signed-in browser asks the gateway of the fixture, whose views a stand-in of lifecycle fills.

import { until } from "@svc/local-stack/testing";
import type { Answer } from "../load/http.ts";
import type { Bench, Target } from "./bench.ts";
import type { Fixture } from "./fixture.ts";

const operatorHost = "op.console.svc.localhost";

/** An operation of the external face, asked with the session of the bench. */
export function sessionTarget(fixture: Fixture, path: string, headers: Record<string, string> = {}): Target {
  return {
    port: fixture.external.port,
    path,
    headers: { cookie: fixture.cookie, ...headers },
    pids: [fixture.external.pid, fixture.lifecycle.pid, fixture.identity.pid, fixture.natsPid],
  };
}

/** The whole fleet, or what `query` selects of it. */
export const fleetOf = (fixture: Fixture, query = "") =>
  sessionTarget(fixture, `/api/v1/fleet${query}`, { host: operatorHost });

/** Fills the views and answers the tag of the fleet once the gateway has all of it. */
export async function fillFleet(bench: Bench, fixture: Fixture, count: number): Promise<string> {
  await fixture.lifecycle.ask("fill", count);
  const { port, path, headers } = fleetOf(fixture);
  const plan = { host: "127.0.0.1", port, method: "GET", path, headers };
  return until(
    async () => {
      const { head, bytes } = await bench.load.ask<Answer>("once", plan);
      const tag = /\r\netag: *([^\r]+)/i.exec(`\r\n${head}`)?.[1];
      return bytes > count * 400 && bytes < (count + 1) * 800 ? tag : undefined;
    },
    20_000,
    `${count} servers in the gateway`,
  );
}
