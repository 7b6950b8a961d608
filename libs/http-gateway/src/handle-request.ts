// The steps of one request: authentication and tier, input, owner, response (docs/reference/http.md#faces). A public
// operation reads its input first, so that a malformed request costs no other service anything.

import type { CallOptions } from "@svc/mesh";
import { Fault, faults, isFault, type Operation } from "@svc/proto";
import { addressKey } from "@svc/proto/address";
import type { Logger, Tracing } from "@svc/telemetry";
import { checkServer } from "./access/api-token.ts";
import type { Authenticator, Credentials } from "./access/authenticate.ts";
import { clientAddressOf } from "./access/client-address.ts";
import { faceHostOf } from "./access/host.ts";
import type { MinuteBudget } from "./access/minute-budget.ts";
import type { Binding } from "./binding/call.ts";
import { hasBody, parseJson, readBody } from "./request/body.ts";
import { type Fields, inputReader } from "./request/input.ts";
import { languageOf } from "./request/language.ts";
import type { RequestState } from "./request/request-state.ts";
import type { RequestLog } from "./response/request-log.ts";
import { sendFault } from "./response/response.ts";
import type { FaceSettings } from "./settings.ts";

type HandlerDeps = {
  authenticator: Authenticator;
  settings: FaceSettings;
  /** Of the malformed requests at sign-in endpoints. */
  malformed: MinuteBudget;
  /** Of what everybody may read. */
  publicReads: MinuteBudget;
  requestLog: RequestLog;
  log: Logger;
  tracing: Tracing;
};

type RoutedRequest = { state: RequestState; host: string; params: Fields; query: Fields };
export type RequestHandler = (request: RoutedRequest) => Promise<void>;

/** Prepares the handler of one contract. Every failure is answered, never thrown. */
export function createHandler(deps: HandlerDeps, contract: Operation, binding: Binding): RequestHandler {
  const { authenticator, settings } = deps;
  const { http } = contract;
  const readRequest = requestReader(contract, settings.jsonBodyBytes);
  const admit = http.rateLimited ? signInAdmission(deps, readRequest) : readRequest;

  const handle: RequestHandler = async (request) => {
    const { state, host } = request;
    const credentials = credentialsOf(state, host, settings);
    if (http.addressBudget) takePublicRead(deps, credentials);
    const early = http.tier === "public" ? await admit(request, credentials) : undefined;
    const authenticated = authenticator.authenticate(http, credentials);
    const principal = authenticated instanceof Promise ? await authenticated : authenticated;
    state.principal = labelOf(principal);
    // A caller who may not do this learns nothing of what the input should be.
    const input = early ?? (await admit(request, credentials));
    checkServer(http, principal, input);
    const options: CallOptions = { ...credentials.options, principal };
    await binding({ state, contract, input, principal, credentials, options });
  };
  const traced = deps.tracing.isOn ? inSpans(deps.tracing, contract, handle) : handle;
  return (request) =>
    traced(request).catch((error) => {
      if (isFault(error) && error.fault === "token_rate_limited") deps.requestLog.noteLimited("api_token");
      sendFailure(deps.log, request.state, error);
    });
}

/** People do not choose what is recorded: a trace that a caller began goes on only on the internal face. */
function inSpans(tracing: Tracing, { http, subject }: Operation, handle: RequestHandler): RequestHandler {
  const { method, path } = http;
  return (request) => {
    const { state } = request;
    const attributes = {
      ...{ "http.request.method": method, "http.route": path, "rpc.method": subject },
      ...{ "svc.face": state.face, "svc.request_id": state.id },
    };
    const given = state.face === "internal" ? traceOf(state) : undefined;
    const about = { kind: "server", parent: given, attributes } as const;
    return tracing.run(`${method} ${path}`, about, (traceparent) => {
      if (traceparent !== undefined) state.traceparent = traceparent;
      return handle(request);
    });
  };
}

/** Before anything else is looked at: whoever guesses addresses of pages is slowed down as well. */
function takePublicRead({ publicReads, requestLog }: HandlerDeps, { options }: Credentials): void {
  const retryAfterSeconds = publicReads.take(addressKey(options.client?.address ?? ""));
  if (retryAfterSeconds === 0) return;
  requestLog.noteLimited("public_read");
  throw new Fault("rate_limited", { retryAfterSeconds });
}

type ReadRequest = (request: RoutedRequest, credentials: Credentials) => Promise<Fields>;

/** Throws `bad_request` or `too_large`. */
function requestReader(contract: Operation, bodyBytes: number): ReadRequest {
  const readInput = inputReader(contract);
  const takesBody = contract.body !== undefined && contract.http.kind !== "upload";
  return async ({ state, params, query }) => {
    const body = takesBody ? await bodyOf(contract, state, bodyBytes) : undefined;
    return readInput({ params, query, headers: state.request.headers, body });
  };
}

/** Well-formed requests take from identity's sign-in budget, malformed ones from a budget of this process. */
function signInAdmission(
  { authenticator, malformed, requestLog }: HandlerDeps,
  readRequest: ReadRequest,
): ReadRequest {
  const admit: ReadRequest = async (request, credentials) => {
    const address = addressKey(credentials.options.client?.address ?? "");
    const retryAfterSeconds = malformed.blockedSeconds(address);
    if (retryAfterSeconds > 0) throw new Fault("rate_limited", { retryAfterSeconds });
    const input = await readRequest(request, credentials).catch((error) => {
      malformed.count(address);
      throw error;
    });
    await authenticator.takeBudget(credentials);
    return input;
  };
  return (request, credentials) =>
    admit(request, credentials).catch((error) => {
      if (isFault(error) && error.fault === "rate_limited") requestLog.noteLimited("auth_door");
      throw error;
    });
}

async function bodyOf(contract: Operation, state: RequestState, limit: number): Promise<unknown> {
  if (hasBody(state.request)) {
    const bytes = await readBody(state, limit);
    if (bytes.length > 0) return parseJson(bytes);
  }
  if (contract.bodyOptional) return {};
  throw new Fault("bad_request", { message: "The request is not valid: a JSON body is required." });
}

function labelOf(principal: CallOptions["principal"]): string {
  if (principal?.kind === "account")
    return principal.token ? `${principal.user_id} token:${principal.token.id}` : principal.user_id;
  return principal?.kind === "caller" ? principal.caller : "";
}

const traceShape = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const userAgentLength = 256;

function credentialsOf(state: RequestState, host: string, settings: FaceSettings): Credentials {
  const { request } = state;
  const { headers } = request;
  const trace = traceOf(state);
  const language = languageOf(headers["accept-language"]);
  const options: CallOptions = {
    requestId: state.id,
    client: {
      address: clientAddressOf(request, settings.clientIpHeader),
      userAgent: plain(headers["user-agent"] ?? ""),
      ...(language && { language }),
      host: faceHostOf(host, settings.adminHostname),
    },
  };
  if (trace !== undefined) options.traceparent = trace;
  const isUse = headers["x-svc-background"] !== "true";
  return { host, cookie: headers.cookie, authorization: headers.authorization, isUse, options };
}

/** Of our own span, or as the caller sent it. */
function traceOf({ traceparent, request }: RequestState): string | undefined {
  const given = traceparent ?? request.headers["traceparent"];
  return typeof given === "string" && traceShape.test(given) ? given : undefined;
}

// It is sent in a NATS header and ends in logs and rows: printable ASCII of bounded length.
function plain(userAgent: string): string {
  return userAgent.slice(0, userAgentLength).replace(/[^\x20-\x7e]/g, "?");
}

/** Responds with what was thrown; anything but a fault becomes `internal` and is logged once. */
export function sendFailure(log: Logger, state: RequestState, error: unknown): void {
  const fault = isFault(error) ? error : new Fault("internal", { cause: error });
  if (!isFault(error)) log.error({ request_id: state.id, route: state.route, err: error }, "request failed");
  else if (fault.cause !== undefined && faults[fault.fault].status >= 500) {
    log.warn({ request_id: state.id, route: state.route, err: fault.cause }, fault.fault);
  }
  if (state.response.headersSent) state.response.destroy();
  else sendFault(state, fault);
}
