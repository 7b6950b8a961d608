// The way of one request: shared behaviour, sign-in budget, credential and tier, owner, answer (architecture.md 1).

import type { CallOptions } from "@svc/mesh";
import { Fault, faults, isFault, type Operation } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Gate, Visitor } from "./access/authenticate.ts";
import { clientAddressOf } from "./access/client-address.ts";
import { faceHostOf } from "./access/host.ts";
import type { Binding } from "./binding/call.ts";
import { hasBody, parseJson, readBody } from "./request/body.ts";
import { type Fields, inputReader } from "./request/input.ts";
import { languageOf } from "./request/language.ts";
import type { Exchange } from "./request/request-state.ts";
import type { RequestLog } from "./response/request-log.ts";
import { answerFault } from "./response/response.ts";
import type { FaceSettings } from "./settings.ts";

export type ServeNeeds = {
  gate: Gate;
  settings: FaceSettings;
  requestLog: RequestLog;
  log: Logger;
};

export type Arrived = { exchange: Exchange; host: string; params: Fields; query: Fields };
export type Serve = (arrived: Arrived) => Promise<void>;

/** Prepares the way of one contract. What goes wrong on it is answered, never thrown. */
export function serving(needs: ServeNeeds, contract: Operation, binding: Binding): Serve {
  const { gate, settings, requestLog } = needs;
  const { http } = contract;
  const readInput = inputReader(contract);
  const takesBody = contract.body !== undefined && http.kind !== "upload";

  const way: Serve = async ({ exchange, host, params, query }) => {
    const visitor = visitorOf(exchange, host, settings);
    if (http.rateLimited) {
      await gate.takeBudget(visitor).catch((error) => {
        if (isFault(error) && error.fault === "rate_limited") requestLog.noteLimited("auth_door");
        throw error;
      });
    }
    const admitted = gate.admit(http, visitor);
    const principal = admitted instanceof Promise ? await admitted : admitted;
    exchange.principal = labelOf(principal);
    const body = takesBody ? await bodyOf(contract, exchange, settings.jsonBodyBytes) : undefined;
    const input = readInput({ params, query, headers: exchange.request.headers, body });
    const options: CallOptions = { ...visitor.options, principal };
    await binding({ exchange, contract, input, principal, visitor, options });
  };
  return (arrived) => way(arrived).catch((error) => answerFailure(needs.log, arrived.exchange, error));
}

async function bodyOf(contract: Operation, exchange: Exchange, limit: number): Promise<unknown> {
  if (hasBody(exchange.request)) {
    const bytes = await readBody(exchange, limit);
    if (bytes.length > 0) return parseJson(bytes);
  }
  if (contract.bodyOptional) return {};
  throw new Fault("bad_request", { message: "The request is not valid: a JSON body is required." });
}

function labelOf(principal: CallOptions["principal"]): string {
  if (principal?.kind === "account") return principal.user_id;
  return principal?.kind === "caller" ? principal.caller : "";
}

const traceShape = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const userAgentLength = 256;

function visitorOf(exchange: Exchange, host: string, settings: FaceSettings): Visitor {
  const { request } = exchange;
  const { headers } = request;
  const trace = headers["traceparent"];
  const language = languageOf(headers["accept-language"]);
  const options: CallOptions = {
    requestId: exchange.id,
    client: {
      address: clientAddressOf(request, settings.clientIpHeader),
      userAgent: plain(headers["user-agent"] ?? ""),
      ...(language && { language }),
      host: faceHostOf(host, settings.adminHostname),
    },
  };
  if (typeof trace === "string" && traceShape.test(trace)) options.traceparent = trace;
  return { host, cookie: headers.cookie, authorization: headers.authorization, options };
}

// It travels in a header of the mesh and ends in logs and rows: printable ASCII of bounded length.
function plain(userAgent: string): string {
  return userAgent.slice(0, userAgentLength).replace(/[^\x20-\x7e]/g, "?");
}

/** Answers what was thrown on the way; anything but a fault becomes `internal` and is logged once. */
export function answerFailure(log: Logger, exchange: Exchange, error: unknown): void {
  const fault = isFault(error) ? error : new Fault("internal", { cause: error });
  if (!isFault(error))
    log.error({ request_id: exchange.id, route: exchange.route, err: error }, "a request failed");
  else if (fault.cause !== undefined && faults[fault.fault].status >= 500) {
    log.warn({ request_id: exchange.id, route: exchange.route, err: fault.cause }, fault.fault);
  }
  if (exchange.response.headersSent) exchange.response.destroy();
  else answerFault(exchange, fault);
}
