import type { PodLogOptions, PodLogs } from "../../cluster-api.ts";
import { badRequest } from "../api-status.ts";
import { isObject, listAt, stringAt } from "../json.ts";
import type { Registry } from "../registry/registry.ts";
import { isOn, type ResourceContext, targetOf } from "./request-context.ts";
import { write } from "./respond.ts";

/** Streams one container's log; an unbound pod has none yet (204 would end a client's stream, so it is empty). */
export async function serveLog(
  { registry, podLogs }: { registry: Registry; podLogs: PodLogs },
  context: ResourceContext,
): Promise<void> {
  const { response, query } = context;
  const { object: pod } = registry.get(targetOf(context));
  const options = readOptions(query);
  checkContainer(pod.metadata.name, containerNames(pod.spec), options);
  const ended = new AbortController();
  response.on("close", () => ended.abort());
  if (stringAt(pod.spec, "nodeName") === "") {
    response.writeHead(204);
    response.end();
    return;
  }
  let started = false;
  const head = () => {
    if (!started) response.writeHead(200, { "content-type": "text/plain" });
    if (!started) response.flushHeaders();
    started = true;
  };
  // A follower waits for the first line; it needs the headers before that.
  if (options.follow) setImmediate(() => !response.destroyed && head());
  try {
    for await (const bytes of podLogs.read(pod, options, ended.signal)) {
      head();
      if (!(await write(response, bytes))) return;
    }
  } catch (error) {
    throw explained(error);
  }
  head();
  response.end();
}

/** A node without a log (yet) rejects the request; that is not an error of the server. */
function explained(error: unknown): unknown {
  return error instanceof Error && error.name === "PodLogError" ? badRequest(error.message) : error;
}

function containerNames(spec: unknown): string[] {
  const lists = ["containers", "initContainers"].flatMap((key) => listAt(spec, key));
  return lists.filter(isObject).map((container) => stringAt(container, "name"));
}

function checkContainer(pod: string, names: string[], options: PodLogOptions): void {
  if (options.container !== undefined && !names.includes(options.container)) {
    throw badRequest(`container ${options.container} is not valid for pod ${pod}`);
  }
  if (options.container === undefined && names.length > 1) {
    throw badRequest(
      `a container name must be specified for pod ${pod}, choose one of: [${names.join(" ")}]`,
    );
  }
}

function readOptions(query: URLSearchParams): PodLogOptions {
  const number = (name: string) => {
    const text = query.get(name);
    if (text === null) return undefined;
    if (!/^\d+$/.test(text)) throw badRequest(`${name} must be a whole number, not ${JSON.stringify(text)}`);
    return Number(text);
  };
  const container = query.get("container");
  const sinceTime = query.get("sinceTime");
  if (sinceTime && Number.isNaN(Date.parse(sinceTime)))
    throw badRequest("sinceTime must be an RFC 3339 time");
  const numbers = Object.fromEntries(
    ["tailLines", "limitBytes", "sinceSeconds"]
      .map((name) => [name, number(name)])
      .filter(([, value]) => value !== undefined),
  );
  return {
    ...numbers,
    ...(container ? { container } : {}),
    ...(sinceTime ? { sinceTime } : {}),
    follow: isOn(query, "follow"),
    previous: isOn(query, "previous"),
    timestamps: isOn(query, "timestamps"),
  };
}
