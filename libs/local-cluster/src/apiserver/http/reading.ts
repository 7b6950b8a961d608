import { ApiStatus } from "../api-status.ts";
import { type ListRequest, listPage, type Selection } from "../registry/listing.ts";
import type { Registry } from "../registry/registry.ts";
import { readScale } from "../scale.ts";
import { isOn, type ResourceContext, targetOf } from "./request-context.ts";
import { sendBytes, sendJson, sendList } from "./respond.ts";
import { serveWatch } from "./watch.ts";

const longestWatchMs = 40 * 60_000;

/** The selection that a query makes. */
function selectionOf({ query, info, type }: ResourceContext): Selection {
  const labelSelector = query.get("labelSelector");
  const fieldSelector = query.get("fieldSelector");
  return {
    ...(type.namespaced && info.namespace !== undefined ? { namespace: info.namespace } : {}),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

/** `GET` of one object or its scale. */
export function serveGet(registry: Registry, context: ResourceContext): void {
  const { type, info, response } = context;
  const stored = registry.get(targetOf(context));
  if (info.subresource === "scale") sendJson(response, 200, readScale(type, stored.object));
  else sendBytes(response, 200, stored.bytes);
}

/** `GET` of a collection. */
export async function serveList(registry: Registry, context: ResourceContext): Promise<void> {
  const { type, query, response } = context;
  const page = listPage(registry.store, type, { ...selectionOf(context), ...pageOf(query) });
  await sendList(response, type, page);
}

function pageOf(query: URLSearchParams): Omit<ListRequest, keyof Selection> {
  const limit = Number(query.get("limit") ?? 0);
  const token = query.get("continue");
  const resourceVersion = query.get("resourceVersion") ?? "";
  if (resourceVersion !== "" && !/^\d+$/.test(resourceVersion)) {
    const message = `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`;
    throw new ApiStatus(400, "BadRequest", { message });
  }
  return {
    ...(Number.isInteger(limit) && limit > 0 ? { limit } : {}),
    ...(token ? { continue: token } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
}

/** `GET ?watch=1` of a collection, or of one object by name. Returns a function that ends the stream. */
export function serveWatchRequest(registry: Registry, context: ResourceContext): Promise<() => void> {
  const { type, query, response } = context;
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  const resourceVersion = query.get("resourceVersion") ?? "";
  const request = {
    ...selectionOf(context),
    ...(resourceVersion ? { resourceVersion } : {}),
    bookmarks: isOn(query, "allowWatchBookmarks"),
    sendInitialEvents: isOn(query, "sendInitialEvents"),
    timeoutMs: seconds > 0 ? seconds * 1000 : longestWatchMs,
  };
  return serveWatch({ store: registry.store, type }, request, response);
}
