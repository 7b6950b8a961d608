import type { PodLogs, PodUsages } from "../../cluster-api.ts";
import { ApiStatus, badRequest, methodNotAllowed, noSuchPath } from "../api-status.ts";
import { type Attributes, type Authorizer, refusalText } from "../auth/rbac.ts";
import type { User } from "../auth/tokens.ts";
import {
  apiGroup,
  apiGroups,
  apiResources,
  apiVersions,
  metricsGroup,
  reviewGroups,
  versionDocument,
} from "../discovery.ts";
import { isObject, objectAt, stringAt } from "../json.ts";
import type { Registry } from "../registry/registry.ts";
import type { BuiltinModels } from "../schema/builtin.ts";
import { readObject } from "./body.ts";
import { serveLog } from "./logs.ts";
import { servePodMetrics } from "./pod-metrics.ts";
import { serveGet, serveList, serveWatchRequest } from "./reading.ts";
import type { RequestContext, ResourceContext } from "./request-context.ts";
import { type RequestInfo, readRequestInfo } from "./request-info.ts";
import { sendJson, sendText } from "./respond.ts";
import { serveBinding, serveCreate, serveDelete, servePatch, serveUpdate } from "./writing.ts";

/** The dependencies of the handlers. */
export type RouterDeps = {
  registry: Registry;
  models: BuiltinModels;
  authorizer: Authorizer;
  podLogs: PodLogs;
  podUsages: PodUsages;
  address: () => string;
  /** Called for each stream that outlives its handler, with a function that ends it. */
  onStream: (type: string, context: RequestContext, end: () => void) => void;
};

/** Handles one request of an authenticated user. Throws ApiStatus to reject it. */
export async function route(deps: RouterDeps, context: RequestContext): Promise<void> {
  const url = context.request.url ?? "/";
  const info = readRequestInfo(context.request.method ?? "GET", url.split("?")[0] ?? "/", context.query);
  authorize(deps.authorizer, context.user, info);
  if (info.kind === "path") servePath(deps, context, info.path);
  else await serveResource(deps, context, info);
}

function attributesOf(info: RequestInfo): Attributes {
  if (info.kind === "path") return { verb: info.verb, path: info.path };
  const { verb, group, resource, name, namespace, subresource } = info;
  return {
    ...{ verb, group, resource },
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function authorize(authorizer: Authorizer, user: User, info: RequestInfo): void {
  const wanted = attributesOf(info);
  if (
    info.kind === "resource" &&
    info.resource === "" &&
    authorizer.allows(user, { verb: "get", path: info.path })
  )
    return;
  if (authorizer.allows(user, wanted)) return;
  const message = refusalText(user, wanted);
  const details =
    info.kind === "path"
      ? {}
      : {
          ...(info.name ? { name: info.name } : {}),
          ...(info.group ? { group: info.group } : {}),
          kind: info.resource,
        };
  throw new ApiStatus(403, "Forbidden", { message, details });
}

function servePath(
  { registry, address }: RouterDeps,
  { request, response }: RequestContext,
  path: string,
): void {
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
  const parts = path.split("/").filter((part) => part !== "");
  const types = registry.types.all();
  if (["healthz", "livez", "readyz"].includes(parts[0] ?? "")) sendText(response, 200, "ok");
  else if (path.startsWith("/version")) sendJson(response, 200, versionDocument);
  else if (path.startsWith("/openapi/v2")) {
    // An empty protobuf document: kubectl treats it as "no schema known" and continues.
    response.writeHead(200, { "content-type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" });
    response.end();
  } else {
    const found = document(parts, types, address());
    if (found === undefined) throw noSuchPath();
    sendJson(response, 200, found);
  }
}

function document(parts: string[], types: ReturnType<Registry["types"]["all"]>, address: string): unknown {
  const [root, group, version] = parts;
  if (root === "api" && group === undefined) return apiVersions(address);
  if (root === "api" && group === "v1" && version === undefined) return apiResources(types, "v1");
  if (root !== "apis") return undefined;
  if (group === undefined) return apiGroups(types);
  if (version === undefined) return apiGroup(types, group);
  return parts.length === 3 ? apiResources(types, `${group}/${version}`) : undefined;
}

async function serveResource(
  deps: RouterDeps,
  context: RequestContext,
  info: RequestInfo & { kind: "resource" },
): Promise<void> {
  if (info.resource === "") {
    const prefix = info.group ? ["apis", info.group, info.version] : ["api", info.version];
    const found = document(prefix, deps.registry.types.all(), deps.address());
    if (found === undefined) throw noSuchPath();
    sendJson(context.response, 200, found);
    return;
  }
  const review = reviewGroups[`${info.group}/${info.version}`]?.find(
    ({ plural }) => plural === info.resource,
  );
  if (review) {
    await serveReview(deps, context, review.kind);
    return;
  }
  if (info.group === metricsGroup.group) {
    await servePodMetrics(deps, context, info);
    return;
  }
  const type = deps.registry.types.find(info.group, info.version, info.resource);
  if (!type) throw noSuchPath();
  if (type.namespaced && info.namespace === undefined && !["list", "watch"].includes(info.verb)) {
    throw info.name === undefined ? methodNotAllowed() : noSuchPath();
  }
  if (!type.namespaced && info.namespace !== undefined && type.storageKey !== "/namespaces")
    throw noSuchPath();
  await dispatch(deps, { ...context, info, type });
}

async function dispatch(deps: RouterDeps, context: ResourceContext): Promise<void> {
  const { registry } = deps;
  const { info, type } = context;
  checkSubresource(context);
  const method = context.request.method;
  if (info.subresource === "log") await serveLog(deps, context);
  else if (info.subresource === "binding") await serveBinding(registry, context);
  else if (info.verb === "watch")
    deps.onStream(type.storageKey, context, await serveWatchRequest(registry, context));
  else if (info.verb === "list") await serveList(registry, context);
  else if (info.verb === "get") serveGet(registry, context);
  else if (method === "POST" && info.name === undefined) await serveCreate(registry, context);
  else if (method === "PUT" && info.name !== undefined) await serveUpdate(registry, context);
  else if (method === "PATCH" && info.name !== undefined) await servePatch(deps, context);
  else if (info.verb === "delete") await serveDelete(registry, context);
  else throw methodNotAllowed();
}

function checkSubresource({ info, type, request }: ResourceContext): void {
  const { subresource } = info;
  if (subresource === undefined) return;
  const served =
    (subresource === "status" && type.status) ||
    (subresource === "scale" && type.scale !== undefined) ||
    (type.storageKey === "/pods" && ["log", "binding"].includes(subresource)) ||
    (type.storageKey === "/namespaces" && subresource === "finalize");
  if (!served) throw noSuchPath();
  const post = subresource === "binding";
  if (post !== (request.method === "POST") || (subresource === "log" && request.method !== "GET"))
    throw methodNotAllowed();
}

async function serveReview({ authorizer }: RouterDeps, context: RequestContext, kind: string): Promise<void> {
  const { user, request, response } = context;
  if (request.method !== "POST") throw methodNotAllowed();
  const body = await readObject(request);
  if (!isObject(body)) throw badRequest(`the body of the request is not a ${kind}`);
  const spec = objectAt(body, "spec");
  const allowed = authorizer.allows(user, wantedOf(spec));
  sendJson(response, 201, {
    kind,
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec,
    status: { allowed },
  });
}

function wantedOf(spec: Record<string, unknown>): Attributes {
  const paths = objectAt(spec, "nonResourceAttributes");
  if (stringAt(paths, "path") !== "") return { verb: stringAt(paths, "verb"), path: stringAt(paths, "path") };
  const wanted = objectAt(spec, "resourceAttributes");
  const keys = ["verb", "group", "resource", "subresource", "name", "namespace"] as const;
  const given = keys
    .map((key) => [key, stringAt(wanted, key)])
    .filter(([key, value]) => value !== "" || key === "verb");
  return Object.fromEntries(given) as Attributes;
}
