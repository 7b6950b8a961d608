// The HTTP server of a gateway, built from the contracts it is given (docs/reference/http.md#faces).

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Mesh } from "@svc/mesh";
import {
  type Face,
  Fault,
  type HttpBinding,
  type Operation,
  type ProcessOperation,
  pathsOf,
} from "@svc/proto";
import { type Logger, noTracing, type Registry, type Tracing } from "@svc/telemetry";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { createAuthenticator } from "./access/authenticate.ts";
import { hostOf } from "./access/host.ts";
import { createMinuteBudget } from "./access/minute-budget.ts";
import type { ServiceTokens } from "./access/service-tokens.ts";
import type { Sessions } from "./access/sessions.ts";
import { createBindings } from "./binding/bindings.ts";
import { processBinding } from "./binding/process-operation.ts";
import { createHandler, type RequestHandler, sendFailure } from "./handle-request.ts";
import { hasBody } from "./request/body.ts";
import { checkHead } from "./request/check-head.ts";
import type { Fields } from "./request/input.ts";
import { createRequestState, pathOf, type RequestState } from "./request/request-state.ts";
import { createSlowBodyGuard, type SlowBodyGuard } from "./request/slow-body-guard.ts";
import { isCompressed, takesEncoding } from "./response/compression.ts";
import { refusalOfParseError, sendRaw } from "./response/raw-response.ts";
import { createRequestLog, type RequestLog } from "./response/request-log.ts";
import { type ResponseHead, sendFault, sendResponse } from "./response/response.ts";
import { methodFinder, methodsOf, routerPath } from "./route-paths.ts";
import { defaultFaceSettings, type FaceSettings } from "./settings.ts";

type FaceOptions = {
  face: Face;
  /** Contracts to serve; those of the other face are left out. */
  operations: readonly Operation[];
  processOperations: readonly ProcessOperation[];
  mesh: Pick<Mesh, "call" | "forward" | "listen" | "mirrorView" | "readLiveLog" | "status">;
  /** Needed by operations that take a session. */
  sessions?: Sessions;
  /** Needed by operations that take a service token. */
  tokens?: ServiceTokens;
  /** Answers requests for paths that no operation has; without it they are 404. */
  site?: Site;
  settings?: Partial<FaceSettings>;
  registry: Registry;
  log: Logger;
  tracing?: Tracing;
};

export type FaceServer = {
  /** Starts to listen; rejects with the system error when the port is taken. Port 0 picks a free one. */
  listen: (where: { host: string; port: number }) => Promise<{ port: number }>;
  /** Ends streams, waits for requests in flight (at most the drain time), then closes all connections. */
  close: () => Promise<void>;
};

/** What a gateway serves besides operations. */
export type Site = {
  /** The answer to a request; undefined leaves it to the face. `host` is the well-formed Host header. */
  answer: (request: IncomingMessage, path: string, host: string) => SiteAnswer | undefined;
};
export type SiteAnswer = ResponseHead & {
  /** For the request log. */
  route: string;
  body?: Uint8Array;
};

type Shell = {
  face: Face;
  site: Site | undefined;
  settings: FaceSettings;
  log: Logger;
  requestLog: RequestLog;
  slowBodies: SlowBodyGuard;
  allowed: (path: string) => string[];
};

/** Builds a face; nothing listens before `listen`. Throws when two contracts claim the same method and path. */
export function createFace(options: FaceOptions): FaceServer {
  const { face, log, registry } = options;
  const settings: FaceSettings = { ...defaultFaceSettings, ...options.settings };
  const isOurs = ({ http }: { http: HttpBinding }) => http.faces.includes(face);
  const operations = options.operations.filter(isOurs);
  const processOperations = options.processOperations.filter(isOurs);
  const { quietPaths, unchangedLogMs } = settings;
  const requestLog = createRequestLog({ face, registry, log, quietPaths, unchangedLogMs });
  const { mesh, sessions, tokens } = options;
  const authenticator = createAuthenticator({
    mesh,
    sessions,
    tokens,
    tokenBudget: createMinuteBudget(settings.tokenRequestsPerMinute),
    adminHostname: settings.adminHostname,
  });
  const malformed = createMinuteBudget(settings.malformedSignIns);
  const publicReads = createMinuteBudget(settings.publicReadsPerMinute);
  const bindings = createBindings({ mesh, sessions, authenticator, settings, registry, log });
  const allowed = methodFinder([...operations, ...processOperations].map(({ http }) => http));
  const slowBodies = createSlowBodyGuard({
    graceMs: settings.bodyGraceMs,
    bytesPerSecond: settings.bodyBytesPerSecond,
  });
  const shell: Shell = { face, site: options.site, settings, log, requestLog, slowBodies, allowed };

  const server = createServer(shell);
  for (const contract of operations) {
    const serve = createHandler(
      {
        ...{ authenticator, settings, malformed, publicReads, requestLog, log },
        tracing: options.tracing ?? noTracing,
      },
      contract,
      bindings.of(contract),
    );
    addRoute(server, shell, { contract, serve });
  }
  for (const operation of processOperations) {
    const respond = processBinding(operation, registry);
    const serve: RequestHandler = ({ state }) =>
      respond(state).catch((error) => sendFailure(log, state, error));
    addRoute(server, shell, { contract: operation, serve });
  }
  server.setNotFoundHandler((request, reply) => refuseUnknownRoute(shell, request, reply));

  return {
    listen: async ({ host, port }) => {
      await server.listen({ host, port });
      const address = server.server.address();
      return { port: typeof address === "object" && address ? address.port : port };
    },
    close: async () => {
      bindings.endStreams();
      await closeServer(server, settings.drainMs);
      slowBodies.close();
      requestLog.close();
      await bindings.close();
    },
  };
}

const contentTypeErrors: ReadonlySet<string> = new Set([
  "FST_ERR_CTP_INVALID_MEDIA_TYPE",
  "FST_ERR_CTP_EMPTY_TYPE",
  "FST_ERR_ROUTE_MISSING_CONTENT_TYPE",
]);

function createServer(shell: Shell): FastifyInstance {
  const { settings } = shell;
  const server = fastify({
    logger: false,
    genReqId: () => "",
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    keepAliveTimeout: settings.idleTimeoutMs,
    connectionTimeout: 0,
    requestTimeout: 0,
    routerOptions: { maxParamLength: 1_024 },
    http: {
      headersTimeout: settings.headersTimeoutMs,
      connectionsCheckingInterval: settings.headersTimeoutMs / 4,
      // Node would answer a missing Host by itself, without the headers that every response carries.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => refuseMalformedRequest(shell, error, socket),
    frameworkErrors: (error, request, reply) => refuseMalformedPath(shell, error, { request, reply }),
  });
  // The face reads bodies itself, after authentication.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (_request, _payload, done) => done(null));
  server.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    // Fastify checks Content-Type before the handler; the face has its own order of checks.
    if (contentTypeErrors.has(error.code ?? "")) {
      if (request.is404) refuseUnknownRoute(shell, request, reply);
      else void request.routeOptions.handler?.call(server, request, reply);
      return;
    }
    sendFailure(shell.log, begin(shell, request.raw, reply), error);
  });
  const { server: http } = server;
  // `100 Continue` is sent when the body is wanted, not earlier.
  for (const event of ["checkContinue", "checkExpectation"])
    http.on(event, (request, response) => http.emit("request", request, response));
  http.on("connect", (_request, socket: Socket) => {
    const refusal = { status: 405, code: "method_not_allowed", message: "CONNECT is not supported." };
    shell.requestLog.noteMalformed(405, sendRaw(socket, refusal, ["Allow", "GET"]));
  });
  return server;
}

function addRoute(
  server: FastifyInstance,
  shell: Shell,
  route: { contract: Operation | ProcessOperation; serve: RequestHandler },
): void {
  const { contract, serve } = route;
  const { http } = contract;
  const { jsonBodyBytes, uploadBytes } = shell.settings;
  const mayCompress = isCompressed(shell.face, http);
  for (const path of pathsOf(http)) {
    server.route({
      method: methodsOf(http),
      url: routerPath(path),
      handler: (request, reply) => {
        const state = begin(shell, request.raw, reply);
        state.route = path;
        state.hasMinimumRate = http.upload?.hasMinimumRate ?? true;
        state.hasEmptyErrors = http.errors === "empty";
        if (mayCompress) state.compression = compressionOf(request.raw);
        const host = hostOf(request.raw);
        if (host === undefined) return refuseBadHost(state);
        const refusal = checkHead(contract, request.raw, { jsonBodyBytes, uploadBytes, host });
        if (refusal) return sendFault(state, refusal, http.refusesBody ? ["Connection", "close"] : []);
        void serve({ state, host, params: request.params as Fields, query: request.query as Fields });
      },
    });
  }
}

/** Takes a request over from Fastify; it is logged when it has ended, however it ends. */
function begin(shell: Shell, request: IncomingMessage, reply: FastifyReply): RequestState {
  reply.hijack();
  const response: ServerResponse = reply.raw;
  const state = createRequestState(shell.face, request, response);
  response.once("close", () => shell.requestLog.note(state));
  if (hasBody(request)) shell.slowBodies.watch(state);
  return state;
}

function compressionOf({ headers }: IncomingMessage): RequestState["compression"] {
  return takesEncoding(headers["accept-encoding"], "gzip") ? "gzip" : "refused";
}

function refuseBadHost(state: RequestState): void {
  const message = "The request is not valid: send exactly one well-formed Host header.";
  sendFault(state, new Fault("bad_request", { message }), ["Connection", "close"]);
}

function refuseUnknownRoute(shell: Shell, request: FastifyRequest, reply: FastifyReply): void {
  const state = begin(shell, request.raw, reply);
  const path = pathOf(request.raw);
  const host = hostOf(request.raw);
  const methods = shell.allowed(path);
  const isOpen = host !== undefined && methods.length === 0;
  const answer = isOpen ? shell.site?.answer(request.raw, path, host) : undefined;
  if (host === undefined) refuseBadHost(state);
  else if (answer) {
    state.route = answer.route;
    sendResponse(state, answer, answer.body);
  } else if (methods.length === 0) sendFault(state, new Fault("not_found"));
  else sendFault(state, new Fault("method_not_allowed"), ["Allow", methods.join(", ")]);
}

function refuseMalformedPath(
  shell: Shell,
  error: Error & { code?: string },
  asked: { request: FastifyRequest; reply: FastifyReply },
): void {
  const state = begin(shell, asked.request.raw, asked.reply);
  if (error.code === "FST_ERR_BAD_URL") {
    const message = "The request is not valid: the path has a malformed percent escape.";
    sendFault(state, new Fault("bad_request", { message }));
  } else sendFault(state, new Fault("not_found"));
}

function refuseMalformedRequest(shell: Shell, error: Error & { code?: string }, socket: Socket): void {
  const refusal = refusalOfParseError(error.code, socket);
  if (refusal) shell.requestLog.noteMalformed(refusal.status, sendRaw(socket, refusal));
  else socket.destroy();
}

async function closeServer(server: FastifyInstance, drainMs: number): Promise<void> {
  const closed = server.close();
  const timer = setTimeout(() => server.server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}
