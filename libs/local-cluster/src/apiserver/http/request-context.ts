import type { IncomingMessage, ServerResponse } from "node:http";
import type { User } from "../auth/tokens.ts";
import type { Target } from "../registry/registry.ts";
import type { ResourceType } from "../resource-type.ts";
import type { RequestInfo } from "./request-info.ts";

/** One HTTP request while it is handled. */
export type RequestContext = {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  user: User;
};

/** A request for a resource that is served. */
export type ResourceContext = RequestContext & {
  info: RequestInfo & { kind: "resource" };
  type: ResourceType;
};

/** The object that a request names. */
export function targetOf({ info, type }: ResourceContext): Target {
  return { type, name: info.name ?? "", namespace: type.namespaced ? info.namespace : undefined };
}

/** A boolean query parameter. */
export function isOn(query: URLSearchParams, name: string): boolean {
  return ["1", "true"].includes(query.get(name) ?? "");
}
