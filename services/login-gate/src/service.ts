import { createClient } from "@svc/client";
import { listen } from "@svc/minecraft";
import { systemClock } from "@svc/service/clock";
import { createNodeFetch } from "@svc/service/node-fetch";
import { createSemaphore } from "@svc/service/semaphore";
import { createTokenSource } from "@svc/service/token";
import { Counter, Gauge, type Logger, type Registry, startHealthServer } from "@svc/telemetry";
import { callsAtOnce, type GateConfig, requestTimeoutMs, tokenRereadMs } from "./config.ts";
import { createFailureLog } from "./failures.ts";
import { createGate } from "./gate.ts";
import type { LinkDeps } from "./linking/link-player.ts";
import { createLinkService } from "./linking/link-service.ts";

type Dependencies = { readonly config: GateConfig; readonly log: Logger; readonly registry: Registry };

/** Connections that are not players yet: pings, and logins under way. */
const spareConnections = 256;

export async function startGate({ config, log, registry }: Dependencies) {
  const { host, maxPlayers, forwardingSecret } = config;
  if (!forwardingSecret)
    log.warn("SVC_FORWARDING_SECRET_FILE is not set: anyone who reaches this port can claim any name");
  const gate = createGate({ holding: holdingOf({ config, log, registry }), maxPlayers, log });
  new Gauge({
    name: "svc_login_gate_players",
    help: "Players at the login gate.",
    registers: [registry],
    collect() {
      this.set(gate.players());
    },
  });
  let hasTicked = false;
  const health = await startHealthServer({
    host,
    port: config.healthPort,
    registry,
    isReady: async () => (hasTicked ? undefined : "the first tick has not run yet"),
    isStuck: () => (hasTicked ? undefined : "the first tick has not run yet"),
  });
  const listener = await listen({
    host,
    port: config.gamePort,
    trust: forwardingSecret ? { kind: "forwarded", secret: forwardingSecret } : { kind: "offline" },
    status: () => ({ description: "svc login", playersOnline: gate.players(), playersMax: maxPlayers }),
    onPlayer: gate.admit,
    onRefused: ({ code, message }, address) => log.info({ code, address }, `connection refused: ${message}`),
    onBroken: (error) => log.error({ err: error }, "login failed unexpectedly"),
    maxConnections: maxPlayers + spareConnections,
    // All players come from the proxy's address.
    maxPerAddress: maxPlayers + spareConnections,
  });
  setImmediate(() => {
    hasTicked = true;
  });
  return {
    gamePort: listener.port,
    healthPort: health.port,
    close: async () => {
      listener.stopAccepting();
      await gate.close();
      await listener.close();
      await health.close();
    },
  };
}

function holdingOf({ config, log, registry }: Dependencies): LinkDeps | undefined {
  const { flow, rules } = config;
  if (!flow) return undefined;
  const outcomes = new Counter({
    name: "svc_login_gate_outcomes_total",
    help: "Players who left the login gate or were shown a code, by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const counter = new Counter({
    name: "svc_login_gate_calls_failed_total",
    help: "Calls of the service that failed, by call.",
    labelNames: ["call"],
    registers: [registry],
  });
  const { tokenFile: file } = flow;
  const token =
    file === undefined
      ? () => flow.token
      : createTokenSource({ file, rereadMs: tokenRereadMs, now: systemClock.now });
  const client = createClient({
    baseUrl: flow.baseUrl,
    headers: {
      // Read for each call.
      get authorization() {
        return `Bearer ${token()}`;
      },
    },
    fetch: createNodeFetch({ connections: callsAtOnce }).fetch,
  });
  const onFailure = createFailureLog({ log, counter });
  const limit = createSemaphore(callsAtOnce).run;
  return {
    service: createLinkService({
      ...{ client, timeoutMs: requestTimeoutMs, limit, onFailure },
      ...{ clock: systemClock, pollMs: rules.pollMs },
    }),
    panelHost: flow.panelHost,
    rules,
    clock: systemClock,
    onOutcome: (outcome) => outcomes.inc({ outcome }),
  };
}
