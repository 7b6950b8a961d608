// Questions to a catalogue, within strict limits: time, size, a budget of each account, and answers that are kept for a while.

import { Fault } from "@svc/proto";
import type { PluginSource } from "@svc/proto/world-task";
import { guardedGet } from "@svc/service/guarded-get";
import type { z } from "zod";
import type { Settings } from "../config.ts";
import { checkAddress } from "../source/address.ts";
import { userAgent } from "../source/user-agent.ts";

type Question<T> = { query?: Record<string, string>; shape: z.ZodType<T> };
/** Undefined when the catalogue has no such thing. */
export type Json = <T>(path: string, question: Question<T>) => Promise<T | undefined>;

export type Asking = (source: PluginSource, account: string, signal?: AbortSignal) => Json;

const withinMs = 10_000;
const mostBytes = 4 << 20;
const keptMs = 300_000;
const mostKept = 200;
const minuteMs = 60_000;

/** Throws `catalogue_disabled`, `catalogue_unavailable`, `catalogue_rate_limited`. */
export function createAsking({ settings, now }: { settings: Settings; now: () => number }): Asking {
  const kept = new Map<string, { at: number; body: unknown }>();
  const spent = new Map<string, { since: number; count: number }>();
  const charge = (account: string) => {
    for (const [one, { since }] of spent) if (now() - since >= minuteMs) spent.delete(one);
    const budget = spent.get(account) ?? { since: now(), count: 0 };
    if (budget.count >= settings.storage.plugin_questions) throw new Fault("catalogue_rate_limited");
    spent.set(account, { ...budget, count: budget.count + 1 });
  };
  const read = async (
    url: URL,
    { account, signal }: { account: string; signal: AbortSignal | undefined },
  ) => {
    const known = kept.get(url.href);
    if (known && now() - known.at < keptMs) return known.body;
    charge(account);
    const body = await fetchJson(url, signal);
    kept.delete(url.href);
    kept.set(url.href, { at: now(), body });
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return body;
  };
  return (source, account, signal) =>
    async (path, { query = {}, shape }) => {
      const base = settings.storage[`${source}_url`];
      if (base === "") throw new Fault("catalogue_disabled");
      const url = new URL(`${base.replace(/\/$/, "")}/${path}`);
      url.search = new URLSearchParams(query).toString();
      const body = await read(url, { account, signal });
      if (body === undefined) return undefined;
      const parsed = shape.safeParse(body);
      if (!parsed.success) throw away(`${url.host} answered with something else than expected.`);
      return parsed.data;
    };
}

/** Undefined for 404. The operator chose the address, so it may be inside. */
async function fetchJson(url: URL, outer: AbortSignal | undefined): Promise<unknown> {
  const late = AbortSignal.timeout(withinMs);
  const signal = outer ? AbortSignal.any([outer, late]) : late;
  try {
    const judge = (address: string) => checkAddress(address, [url.origin]);
    const limits = { mostRedirects: 0, stallMs: withinMs, signal };
    const got = await guardedGet(url.href, { judge, userAgent, ...limits });
    try {
      if (got.status === 404) return undefined;
      if (got.status !== 200) throw new Error(`${url.host} answered ${got.status}.`);
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of got.body) {
        size += chunk.length;
        if (size > mostBytes) throw new Error(`${url.host} answered with more than ${mostBytes} bytes.`);
        chunks.push(chunk);
      }
      return JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } finally {
      got.close();
    }
  } catch (error) {
    if (outer?.aborted) throw error;
    const why =
      error instanceof SyntaxError ? `${url.host} answered with no JSON.` : (error as Error).message;
    throw away(late.aborted ? `${url.host} did not answer within ${withinMs / 1_000} s.` : why);
  }
}

const away = (why: string) => new Fault("catalogue_unavailable", { message: `${why} Try again later.` });
