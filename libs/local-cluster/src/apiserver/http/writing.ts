import type { DeleteOptions, KubeObject } from "../../cluster-api.ts";
import { badRequest, methodNotAllowed } from "../api-status.ts";
import { isObject, listAt, objectAt, stringAt } from "../json.ts";
import type { Registry } from "../registry/registry.ts";
import { readScale, writeScale } from "../scale.ts";
import { contentType, parseText, readBody, readObject } from "./body.ts";
import { acceptedPatchTypes, type PatchDeps, patchObject } from "./patching.ts";
import { type ResourceContext, targetOf } from "./request-context.ts";
import { sendJson } from "./respond.ts";

function isDryRun(query: URLSearchParams, body?: unknown): boolean {
  const asked = [...query.getAll("dryRun"), ...listAt(body, "dryRun")];
  if (asked.length === 0) return false;
  if (asked.every((value) => value === "All")) return true;
  throw badRequest('dryRun: Unsupported value: supported values: "All"');
}

async function requiredObject(context: ResourceContext): Promise<unknown> {
  const body = await readObject(context.request);
  if (body === undefined) throw badRequest("the body of the request is empty; send the object");
  return body;
}

function writeOptions(context: ResourceContext) {
  return { dryRun: isDryRun(context.query) };
}

/** `POST` of a new object. */
export async function serveCreate(registry: Registry, context: ResourceContext): Promise<void> {
  const { type, info } = context;
  const body = await requiredObject(context);
  const namespace = type.namespaced ? info.namespace : undefined;
  const object = registry.create(type, body, { ...writeOptions(context), namespace });
  sendJson(context.response, 201, object);
}

/** `POST pods/NAME/binding`. */
export async function serveBinding(registry: Registry, context: ResourceContext): Promise<void> {
  const body = await requiredObject(context);
  const node = stringAt(objectAt(body, "target"), "name");
  if (node === "") throw badRequest("target.name must name the node");
  if (!isDryRun(context.query)) registry.bind(targetOf(context), node);
  sendJson(context.response, 201, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    code: 201,
  });
}

/** `PUT` of an object, its status, its scale, or of a namespace's finalizers. */
export async function serveUpdate(registry: Registry, context: ResourceContext): Promise<void> {
  const { info, type, response } = context;
  const target = targetOf(context);
  const body = await requiredObject(context);
  const options = writeOptions(context);
  if (info.subresource === "finalize") {
    sendJson(response, 200, registry.finalize(target, listAt(objectAt(body, "spec"), "finalizers")));
  } else if (info.subresource === "scale") {
    const current = registry.get(target).object;
    sendJson(
      response,
      200,
      readScale(type, registry.update(target, writeScale(type, current, body), options)),
    );
  } else {
    const subresource = info.subresource === "status" ? { subresource: "status" as const } : {};
    sendJson(response, 200, registry.update(target, body, { ...options, ...subresource }));
  }
}

/** `PATCH` of any kind. */
export async function servePatch(deps: PatchDeps, context: ResourceContext): Promise<void> {
  const { info, request, response } = context;
  const target = targetOf(context);
  const type = contentType(request);
  const bytes = await readBody(request);
  const readable = acceptedPatchTypes(target).includes(type);
  const body = readable ? parseText(bytes.toString()) : undefined;
  const subresource =
    info.subresource === "status" || info.subresource === "scale" ? info.subresource : undefined;
  const object = patchObject(deps, target, {
    contentType: type,
    body,
    subresource,
    options: writeOptions(context),
  });
  sendJson(response, 200, object);
}

async function readDeleteOptions(context: ResourceContext): Promise<DeleteOptions & { dryRun: boolean }> {
  const { query, request } = context;
  const body = (await readObject(request)) ?? {};
  if (!isObject(body)) throw badRequest("the body of a delete is a DeleteOptions object");
  const grace = body["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  const asked = body["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  const policy = asked ?? (body["orphanDependents"] === true ? "Orphan" : undefined);
  if (policy !== undefined && !["Background", "Foreground", "Orphan"].includes(String(policy))) {
    throw badRequest(
      `propagationPolicy: Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan"`,
    );
  }
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === undefined
      ? {}
      : { propagationPolicy: policy as NonNullable<DeleteOptions["propagationPolicy"]> }),
    ...(isObject(body["preconditions"]) ? { preconditions: body["preconditions"] } : {}),
    dryRun: isDryRun(query, body),
  };
}

// These kinds answer a delete with the object itself; the others with a Status once it is gone.
const answeredByObject = [
  "/pods",
  "/persistentvolumeclaims",
  "/persistentvolumes",
  "/serviceaccounts",
  "/namespaces",
];

/** `DELETE` of one object. */
export async function serveDelete(registry: Registry, context: ResourceContext): Promise<void> {
  const { type, info, response } = context;
  if (info.subresource) throw methodNotAllowed();
  const options = await readDeleteOptions(context);
  const { gone, object } = registry.remove(targetOf(context), options);
  if (!gone || answeredByObject.includes(type.storageKey)) sendJson(response, 200, object);
  else sendJson(response, 200, deletedStatus(context, object));
}

function deletedStatus({ type }: ResourceContext, { metadata }: KubeObject): unknown {
  const { name, uid } = metadata;
  const group = type.group ? { group: type.group } : {};
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...group, kind: type.plural, uid },
  };
}
