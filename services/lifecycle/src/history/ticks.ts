// Ticks a second, where a server's own command gives them (docs/reference/history.md#ticks).

import { createSemaphore } from "@svc/service/semaphore";
import type { Server } from "../cluster/resource.ts";
import type { ServerRcon } from "../console/rcon.ts";

/** So much of a reply is read. */
const maxReplyChars = 2_000;
const maxRate = 10_000;

/** Commands that answer with ticks: Paper and its kin, the game itself since 1.20.3, Forge, NeoForge. */
const commands = ["tps", "tick query", "forge tps", "neoforge tps"] as const;

/**
 * Reads the ticks a second out of a reply; undefined when it says none. The reply is what a tenant's server says: it is
 * cut, and the work is linear in what is left.
 */
export function parseTicks(reply: string): number | undefined {
  const text = reply.slice(0, maxReplyChars).replace(/§[0-9a-fk-orx]/gi, "");
  const rate = averagesIn(text) ?? overallIn(text) ?? tickTimeIn(text);
  return rate !== undefined && rate >= 0 && rate <= maxRate ? rate : undefined;
}

/** `TPS from last 1m, 5m, 15m: 20.0, *20.0, 19.8`: the mean of five minutes where there is one. */
function averagesIn(text: string): number | undefined {
  const begin = text.indexOf("TPS from last ");
  const colon = text.indexOf(":", begin);
  if (begin < 0 || colon < 0) return undefined;
  const spans = text.slice(begin + "TPS from last ".length, colon).split(",");
  const values = (text.slice(colon + 1).split("\n")[0] ?? "").split(",");
  const at = spans.findIndex((span) => span.trim() === "5m");
  return numberIn(values[Math.max(0, at)] ?? "");
}

/** `Overall: 20.000 TPS (0.5 ms/tick)`, before `Overall: Mean tick time: 0.5 ms. Mean TPS: 20.000`. */
function overallIn(text: string): number | undefined {
  const line = text.split("\n").find((one) => one.includes("Overall")) ?? "";
  const found =
    /(\d{1,5}(?:[.,]\d{1,6})?) TPS/.exec(line) ?? /Mean TPS: (\d{1,5}(?:[.,]\d{1,6})?)/.exec(line);
  return found?.[1] === undefined ? undefined : numberIn(found[1].replace(",", "."));
}

/** `Target tick rate: 20.0 per second.` with `Average time per tick: 3.1ms`: never more than the target. */
function tickTimeIn(text: string): number | undefined {
  const target = numberIn(/Target tick rate: (\d{1,5}(?:\.\d{1,6})?)/.exec(text)?.[1] ?? "");
  const time = numberIn(/Average time per tick: (\d{1,6}(?:\.\d{1,6})?)/.exec(text)?.[1] ?? "");
  if (target === undefined || time === undefined) return undefined;
  return time === 0 ? target : Math.min(target, 1_000 / time);
}

function numberIn(text: string): number | undefined {
  const digits = /^\s*\*?(\d{1,5}(?:\.\d{1,6})?)\s*$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

type TicksDeps = { rcon: Pick<ServerRcon, "run">; concurrency: number };

export type Ticks = {
  /** Ticks of the servers that give them, by name; never rejects. Servers that are not reached in time are left out. */
  read: (servers: readonly Server[], signal: AbortSignal) => Promise<Map<string, number>>;
};

/** Finds out once for each run of a server which command it answers, and then asks that one only. */
export function createTicks({ rcon, concurrency }: TicksDeps): Ticks {
  const known = new Map<string, { run: string; command: string | undefined }>();

  const probe = async (server: Server): Promise<number | undefined> => {
    const { name } = server.metadata;
    const run = server.status?.readySignalAt ?? "";
    const found = known.get(name);
    const isKnown = found?.run === run;
    if (isKnown && found.command === undefined) return undefined;
    for (const command of isKnown && found.command !== undefined ? [found.command] : commands) {
      const ticks = parseTicks(await rcon.run(server, command));
      if (ticks === undefined) continue;
      known.set(name, { run, command });
      return ticks;
    }
    if (!isKnown) known.set(name, { run, command: undefined });
    return undefined;
  };

  return {
    read: async (servers, signal) => {
      const names = new Set(servers.map(({ metadata }) => metadata.name));
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
      const { run } = createSemaphore(concurrency);
      const rates = new Map<string, number>();
      const ask = async (server: Server) => {
        if (signal.aborted) return;
        const ticks = await probe(server);
        if (ticks !== undefined) rates.set(server.metadata.name, ticks);
      };
      // A server that does not answer has a gap and is asked again with the next sample.
      await Promise.allSettled(servers.map((server) => run(() => ask(server), signal)));
      return rates;
    },
  };
}
