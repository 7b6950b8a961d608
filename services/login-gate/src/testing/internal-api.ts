// The part of the internal face that the gate talks to, as a real HTTP server that a test sets to any state: whole
// outages and odd answers cannot be had from the service itself.

import { once } from "node:events";
import { createServer } from "node:http";

type ApiState = {
  barred: boolean;
  linked: boolean;
  /** Answered in place of everything, while set. */
  status: number | undefined;
  codeLifeMs: number;
  /** The batched call is unknown to this service. */
  isOld: boolean;
};

export async function startInternalApi(token = "limbo-token") {
  const state: ApiState = {
    barred: false,
    linked: false,
    status: undefined,
    codeLifeMs: 600_000,
    isOld: false,
  };
  const seen: string[] = [];
  const polled: string[] = [];
  let codes = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = (request.url ?? "").replace("/api/v1/internal/", "");
    seen.push(path);
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const error = (code: string) => ({ error: { code, message: "Refused.", request_id: "r" } });
    if (state.status !== undefined) return reply(state.status, error("refused"));
    if (request.headers.authorization !== `Bearer ${token}`) return reply(401, error("unauthorized"));
    if (path.startsWith("player/blacklist/")) return reply(200, { blacklisted: state.barred });
    if (path.startsWith("account/link/status/")) return reply(200, { linked: state.linked });
    const body = () => JSON.parse(Buffer.concat(chunks).toString());
    if (path === "account/link/statuses" && !state.isOld) {
      const { mc_uuids } = body() as { mc_uuids: string[] };
      polled.push(...mc_uuids);
      const linked = typeof state.linked === "boolean" ? mc_uuids.filter(() => state.linked) : state.linked;
      return reply(200, { linked });
    }
    if (path !== "account/link/code") return reply(404, error("not_found"));
    const { mc_uuid } = body() as { mc_uuid: string };
    if (!mc_uuid) return reply(400, error("bad_mc_uuid"));
    const expires_at = new Date(Date.now() + state.codeLifeMs).toISOString();
    return reply(201, { code: `CODE${String(++codes).padStart(4, "2")}`, expires_at });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    token,
    state,
    seen,
    /** Players asked about, as often as they were. */
    polled,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
