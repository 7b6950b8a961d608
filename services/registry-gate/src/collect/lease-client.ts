import type { LeaseClient } from "./collect.ts";

const answerWithinMs = 5_000;

/** Talks to the private listener of the gate as the account `prune`. */
export function createLeaseClient(options: { url: string; password: string; ttlMs: number }): LeaseClient {
  const authorization = `Basic ${Buffer.from(`prune:${options.password}`).toString("base64")}`;
  const send = async (method: string, path: string) => {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(`${options.url}${path}`, { method, headers: { authorization }, signal });
    const body = (await answer.json()) as { id?: string; error?: string };
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body };
  };
  return {
    acquire: async () => {
      const { status, retryAfter, body } = await send("POST", "/gate/lease");
      if (status === 201 && body.id !== undefined) return { id: body.id, ttlMs: options.ttlMs };
      if (status === 409) return { retryAfterMs: Number(retryAfter) * 1_000, reason: body.error ?? "" };
      throw new Error(`the gate answered ${status} to the request for a lease: ${body.error}`);
    },
    renew: async (id, pid) => {
      const { status } = await send("PUT", `/gate/lease/${id}${pid === undefined ? "" : `?pid=${pid}`}`);
      if (status !== 200 && status !== 404) throw new Error(`the gate answered ${status}`);
      return status === 200;
    },
    end: async (id) => {
      await send("DELETE", `/gate/lease/${id}`);
    },
  };
}
