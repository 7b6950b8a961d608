import { randomUUID } from "node:crypto";
import type { KubeObject } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import { ApiStatus, badRequest, conflict, forbidden, invalid, notFound } from "../api-status.ts";
import type { StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, jsonEqual, objectAt, stringAt } from "../json.ts";
import { strategies } from "../kinds/strategies.ts";
import type { CreateContext } from "../kinds/strategy.ts";
import { generateName } from "../metadata/names.ts";
import { validateMetadata, validateMetadataUpdate } from "../metadata/validate.ts";
import { apiVersionOf, type ResourceType } from "../resource-type.ts";
import { type BuiltinModels, conform, FieldTypeError } from "../schema/builtin.ts";
import { applyDefaults, prune, validate } from "../schema/structural.ts";

/** The dependencies of the checks of a write. */
export type Admission = {
  models: BuiltinModels;
  now: () => Date;
  context: Omit<CreateContext, "uid" | "now">;
};

const namespaceType = { group: "", plural: "namespaces", kind: "Namespace" };
const serverFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
] as const;

/** Checks that a body is an object of this kind and belongs to the namespace of the request. */
export function readEnvelope(type: ResourceType, body: unknown, namespace: string | undefined): KubeObject {
  if (!isObject(body)) throw badRequest("the body of the request is not a JSON object");
  const kind = body["kind"] ?? type.kind;
  const apiVersion = body["apiVersion"] ?? apiVersionOf(type);
  if (kind !== type.kind || apiVersion !== apiVersionOf(type)) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${type.kind}: this path takes ${apiVersionOf(type)} ${type.kind}`,
    );
  }
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const named = stringAt(metadata, "namespace");
  if (type.namespaced && named !== "" && named !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const { namespace: _namespace, ...rest } = metadata;
  const placed = {
    ...rest,
    ...(type.namespaced && namespace ? { namespace } : {}),
  } as KubeObject["metadata"];
  return { ...body, kind: type.kind, apiVersion: apiVersionOf(type), metadata: placed };
}

/** Rejects new objects where the namespace is missing (404) or terminating (403). */
export function requireNamespace(
  type: ResourceType,
  object: KubeObject,
  namespace: KubeObject | undefined,
): void {
  const name = object.metadata.namespace ?? "";
  if (!namespace) throw notFound(namespaceType, name);
  if (!namespace.metadata.deletionTimestamp) return;
  const text = `unable to create new content in namespace ${name} because it is being terminated`;
  const refusal = forbidden(type, object.metadata.name, text);
  refusal.details.causes = [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${name} is being terminated`,
      field: "metadata.namespace",
    },
  ];
  throw refusal;
}

/** The object with only known fields of the right types; 400 where a type is wrong. */
function shape(admission: Admission, type: ResourceType, object: KubeObject): KubeObject {
  try {
    if (type.model) return conform(admission.models, type.model, object) as KubeObject;
    const metadata = conform(admission.models, "V1ObjectMeta", object.metadata) as KubeObject["metadata"];
    return { ...pruneCustom(type, object), kind: type.kind, apiVersion: apiVersionOf(type), metadata };
  } catch (error) {
    if (!(error instanceof FieldTypeError)) throw error;
    const version = JSON.stringify(apiVersionOf(type));
    throw badRequest(
      `${type.kind} in version ${version} cannot be handled as a ${type.kind}: ${error.message}`,
    );
  }
}

function pruneCustom(type: ResourceType, object: KubeObject): KubeObject {
  if (!type.custom) return object;
  return applyDefaults(type.custom.schema, prune(type.custom.schema, object)) as KubeObject;
}

function refuseInvalid(type: ResourceType, object: KubeObject, causes: StatusCause[]): void {
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

function customCauses(type: ResourceType, object: KubeObject): StatusCause[] {
  if (!type.custom) return [];
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...rest } = object;
  const required = (type.custom.schema.required ?? []).filter(
    (key) => !["kind", "apiVersion", "metadata"].includes(key),
  );
  return validate({ ...type.custom.schema, required }, rest);
}

/** Turns the body of a create into the object to store: defaults, uid, times, first status, all checks. */
export function admitCreate(admission: Admission, type: ResourceType, body: KubeObject): KubeObject {
  const strategy = strategies[type.storageKey];
  const now = admission.now();
  const uid = randomUUID();
  let object = shape(admission, type, body);
  const { generateName: prefix, ...given } = object.metadata;
  if (given.resourceVersion) {
    throw new ApiStatus(500, "InternalError", {
      message: "resourceVersion should not be set on objects to be created",
    });
  }
  for (const field of serverFields) delete given[field];
  const name = given.name || (prefix ? generateName(prefix) : "");
  const metadata = {
    ...given,
    name,
    ...(prefix ? { generateName: prefix } : {}),
    uid,
    creationTimestamp: timeText(now),
    ...(type.generation ? { generation: 1 } : {}),
  };
  object = { ...object, metadata };
  if (type.status) delete object.status;
  refuseInvalid(type, object, validateMetadata(type, object));
  if (strategy?.defaults) object = strategy.defaults(object);
  refuseInvalid(type, object, [...customCauses(type, object), ...(strategy?.validate?.(object) ?? [])]);
  return strategy?.onCreate
    ? strategy.onCreate(object, { ...admission.context, uid, now: () => now })
    : object;
}

/** A write to an object that exists, in the stored shape. */
type UpdateInput = { next: KubeObject; previous: KubeObject; subresource?: "status" | undefined };

/** Turns the body of an update into the object to store; fields owned by the server are kept. */
export function admitUpdate(admission: Admission, type: ResourceType, input: UpdateInput): KubeObject {
  const { previous, subresource } = input;
  const strategy = strategies[type.storageKey];
  const shaped = shape(admission, type, input.next);
  checkIdentity(type, shaped, previous);
  let next =
    subresource === "status" ? withStatus(type, shaped, previous) : withoutStatus(type, shaped, previous);
  if (subresource !== "status" && strategy?.defaults) next = strategy.defaults(next, previous);
  const causes = [
    ...validateMetadata(type, next),
    ...validateMetadataUpdate(next, previous),
    ...customCauses(type, next),
  ];
  if (subresource !== "status") {
    causes.push(...(strategy?.validate?.(next) ?? []), ...(strategy?.validateUpdate?.(next, previous) ?? []));
  }
  refuseInvalid(type, next, causes);
  return withGeneration(type, next, previous);
}

function checkIdentity(type: ResourceType, next: KubeObject, previous: KubeObject): void {
  const { name, uid, resourceVersion } = next.metadata;
  if (name !== previous.metadata.name) {
    throw badRequest(
      `the name of the object (${name ?? ""}) does not match the name on the URL (${previous.metadata.name})`,
    );
  }
  if (uid && uid !== previous.metadata.uid) {
    const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${previous.metadata.uid}`;
    throw conflict(type, name, text);
  }
  if (resourceVersion && resourceVersion !== "0") {
    if (resourceVersion !== previous.metadata.resourceVersion) throw conflict(type, name);
  } else if (type.custom) {
    const message = "Invalid value: 0x0: must be specified for an update";
    throw invalid(type, name, [{ reason: "FieldValueInvalid", message, field: "metadata.resourceVersion" }]);
  }
}

function keptMetadata(next: KubeObject, previous: KubeObject): KubeObject["metadata"] {
  const metadata = { ...next.metadata };
  for (const field of serverFields) delete metadata[field];
  const kept = Object.fromEntries(
    serverFields.map((field) => [field, previous.metadata[field]]).filter(([, value]) => value !== undefined),
  );
  return { ...metadata, ...kept };
}

function withoutStatus(type: ResourceType, next: KubeObject, previous: KubeObject): KubeObject {
  const out = { ...next, metadata: keptMetadata(next, previous) };
  // Only the finalize subresource removes a namespace.
  if (type.storageKey === "/namespaces") out.spec = previous.spec ?? {};
  if (!type.status) return out;
  const { status: _status, ...rest } = out;
  return previous.status === undefined ? rest : { ...rest, status: previous.status };
}

function withStatus(type: ResourceType, next: KubeObject, previous: KubeObject): KubeObject {
  const { status: _status, ...rest } = previous;
  // A node agent also sets labels and annotations of its pods.
  const marks = type.custom ? {} : marksOf(next);
  const out = { ...rest, metadata: { ...previous.metadata, ...marks } };
  return next.status === undefined ? out : { ...out, status: next.status };
}

function marksOf(object: KubeObject): Partial<KubeObject["metadata"]> {
  const { labels, annotations } = object.metadata;
  return { ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
}

function counted(type: ResourceType, object: KubeObject): JsonObject {
  const { metadata: _metadata, status, ...rest } = object;
  return type.status || !type.custom ? rest : { ...rest, status };
}

function withGeneration(type: ResourceType, next: KubeObject, previous: KubeObject): KubeObject {
  if (!type.generation || jsonEqual(counted(type, next), counted(type, previous))) return next;
  const generation = (previous.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

/** The `spec.finalizers` of a namespace. */
export function namespaceFinalizers(namespace: KubeObject): unknown {
  return objectAt(namespace, "spec")["finalizers"];
}
