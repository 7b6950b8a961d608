import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import type { ClusterApi, PodLogs, PodUsages } from "../cluster-api.ts";
import { ApiStatus } from "./api-status.ts";
import { bootstrapAccess, bootstrapNamespaces } from "./auth/bootstrap.ts";
import { createAuthorizer } from "./auth/rbac.ts";
import { anonymous, openTokens, type TokenEntry, type Tokens, type User } from "./auth/tokens.ts";
import { startDefinitions } from "./definitions.ts";
import { limitEvents } from "./event-limit.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import type { RequestContext } from "./http/request-context.ts";
import { sendFault } from "./http/respond.ts";
import { type RouterDeps, route } from "./http/router.ts";
import { createClusterApi } from "./in-process.ts";
import { isObject, stringAt } from "./json.ts";
import { builtinTypes } from "./kinds/builtin.ts";
import { createClusterIps } from "./kinds/cluster-ip.ts";
import { clusterIpOf } from "./kinds/service.ts";
import { createRegistry, type Registry } from "./registry/registry.ts";
import { createTypeTable } from "./registry/type-table.ts";
import { loadBuiltinModels } from "./schema/builtin.ts";
import type { Retained } from "./store/collection.ts";
import { openStore, type Store } from "./store/store.ts";
import { ensureIdentity } from "./tls/certificate.ts";
import { createTlsListener } from "./tls/tls-listener.ts";

/** Options of an API server. */
type ApiServerOptions = {
  /** The SQLite file with all data; created when missing. */
  dataFile: string;
  /** A JSON file of `{ token, user, groups }` entries, read again when it changes, or the entries themselves. */
  tokens: string | TokenEntry[];
  /** The source of `pods/NAME/log`. */
  podLogs: PodLogs;
  /** The source of `metrics.k8s.io`; without it no pod is measured. */
  podUsages?: PodUsages;
  /** The clock for times in objects. */
  clock?: () => Date;
  /** Called with an error that no client caused. */
  onError?: (error: unknown) => void;
};

/** An API server that clients reach over loopback HTTP and controllers in process. */
export type ApiServer = {
  /** Starts to listen; port 0 selects a free one. Rejects when the port is in use. */
  listen(port: number, host?: string): Promise<void>;
  /** `http://host:port` once it listens, empty before. */
  readonly url: string;
  /** The certificate (PEM) under which the same port speaks HTTPS, which kubectl wants before it sends a token. */
  readonly certificate: string;
  /** Memory use of the store. */
  retained(): Retained;
  api: ClusterApi;
  /** Resolves once no garbage is left to collect. */
  settled(): Promise<void>;
  /** Ends all streams and connections and closes the data file. */
  close(): Promise<void>;
};

/**
 * Opens the stored cluster and serves it. The file is locked to this process by its writes only: run one server
 * per file.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const store = openStore(options.dataFile);
  const models = loadBuiltinModels();
  const registry = openRegistry(store, options, models);
  const definitions = startDefinitions(registry);
  bootstrap(registry);
  const garbage = startGarbageCollector(registry);
  const events = limitEvents(store, options.clock ?? (() => new Date()));
  const authorizer = createAuthorizer(store);
  const tokens = openTokens(options.tokens);
  const streams = createStreams();
  definitions.onGone((storageKey) => streams.endOf(storageKey));
  let url = "";
  const deps: RouterDeps = {
    registry,
    models,
    authorizer,
    podLogs: options.podLogs,
    podUsages: options.podUsages ?? { measure: async () => new Map() },
    address: () => url.replace(/^http:\/\//, ""),
    onStream: streams.add,
  };
  const folder = dirname(options.dataFile);
  const identity = ensureIdentity(join(folder, "apiserver.key"), join(folder, "apiserver.crt"));
  const listener = createTlsListener(identity, (request, response) => {
    void answer({ deps, tokens, onError: options.onError ?? (() => {}) }, request, response);
  });
  return {
    api: createClusterApi(registry),
    get url() {
      return url;
    },
    certificate: identity.cert,
    retained: store.retained,
    settled: garbage.settled,
    listen: async (port, host = "127.0.0.1") => {
      const { port: taken } = await listener.listen(port, host);
      url = `http://${host}:${taken}`;
    },
    close: async () => {
      events.close();
      garbage.close();
      definitions.close();
      authorizer.close();
      tokens.close();
      streams.endAll();
      await listener.close();
      store.close();
    },
  };
}

function openRegistry(
  store: Store,
  options: ApiServerOptions,
  models: ReturnType<typeof loadBuiltinModels>,
): Registry {
  const now = options.clock ?? (() => new Date());
  const services = [...store.collection("/services").range({})].map(({ object }) => object);
  const addresses = createClusterIps(services);
  store.subscribe("/services", ({ type, current }) => {
    const address = clusterIpOf(current.object);
    if (address !== "" && type === "DELETED") addresses.release(address);
    else if (address !== "") addresses.take(address);
  });
  const defaultStorageClass = () => {
    for (const { object } of store.collection("storage.k8s.io/storageclasses").range({})) {
      if (object.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true")
        return object.metadata.name;
    }
    return undefined;
  };
  const context = { allotClusterIp: addresses.allot, defaultStorageClass };
  return createRegistry({
    store,
    types: createTypeTable(builtinTypes),
    admission: { models, now, context },
  });
}

function bootstrap(registry: Registry): void {
  for (const object of [...bootstrapNamespaces, ...bootstrapAccess]) {
    const type = registry.types.ofKind(object.apiVersion, object.kind);
    if (type && !registry.find({ type, name: object.metadata.name })) registry.create(type, object, {});
  }
}

type AnswerDeps = { deps: RouterDeps; tokens: Tokens; onError: (error: unknown) => void };

async function answer(
  { deps, tokens, onError }: AnswerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => response.destroy());
  try {
    const user = userOf(tokens, request);
    const query = new URLSearchParams((request.url ?? "").split("?").slice(1).join("?"));
    await route(deps, { request, response, query, user });
  } catch (error) {
    if (!(error instanceof ApiStatus) && !isAborted(error)) onError(error);
    sendFault(response, error);
  }
}

function isAborted(error: unknown): boolean {
  return isObject(error) && ["ECONNRESET", "ABORT_ERR"].includes(stringAt(error, "code"));
}

function userOf(tokens: Tokens, request: IncomingMessage): User {
  const header = request.headers.authorization;
  if (!header) return anonymous;
  const token = /^bearer\s+(\S.*)$/i.exec(header)?.[1];
  const user = token === undefined ? undefined : tokens.find(token);
  if (!user) throw new ApiStatus(401, "Unauthorized", { message: "Unauthorized" });
  return user;
}

function createStreams() {
  const open = new Map<RequestContext, { storageKey: string; end: () => void }>();
  const endOf = (wanted?: string) => {
    for (const { storageKey, end } of [...open.values()])
      if (wanted === undefined || storageKey === wanted) end();
  };
  return {
    add: (storageKey: string, context: RequestContext, end: () => void) => {
      if (context.response.destroyed) return;
      open.set(context, { storageKey, end });
      context.response.on("close", () => open.delete(context));
    },
    endOf,
    endAll: () => endOf(),
  };
}
