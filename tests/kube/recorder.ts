// Which rights a service uses of those that the shipped Roles give it, on a real API server.

import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Kube, KubeObject } from "@svc/kube";
import { parse, parseAllDocuments, stringify } from "yaml";

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };

/** Everything that shipped Roles of these names give, as `<group>/<resource> <verb>`. */
export function granted(names: RegExp): Set<string> {
  const text = readFileSync(new URL("../../deploy/kubernetes/base/roles.yaml", import.meta.url), "utf8");
  const objects = parseAllDocuments(text).map((one) => one.toJS() as KubeObject & { rules?: Rule[] });
  const own = objects.filter(({ metadata }) => names.test(metadata.name));
  const rules = own.flatMap(({ rules: some = [] }) => some);
  return new Set(
    rules.flatMap(({ apiGroups, resources: kinds, verbs }) =>
      apiGroups.flatMap((group) => kinds.flatMap((kind) => verbs.map((verb) => `${group}/${kind} ${verb}`))),
    ),
  );
}

/** What a request is called in a Role. */
function rightOf(method: string, url: string): string | undefined {
  const { pathname, searchParams } = new URL(url, "https://api");
  const found =
    /^\/(?:api|apis\/([^/]+))\/v[^/]+(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      pathname,
    );
  if (!found) return undefined;
  const [, group = "", kind = "", name, sub] = found;
  const read = name === undefined ? (searchParams.get("watch") ? "watch" : "list") : "get";
  const verbs: Record<string, string> = {
    GET: read,
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: "delete",
  };
  return `${group}/${kind}${sub ? `/${sub}` : ""} ${verbs[method]}`;
}

type Config = {
  clusters: { cluster: Record<string, string> }[];
  users: { name: string; user: object }[];
};
export type Recorder = { url: string; used: Set<string>; refused: string[]; close: () => void };

/** Stands between a service and the API server and notes which rights are used. */
async function startRecorder(config: Config): Promise<Recorder> {
  const {
    server = "",
    "certificate-authority-data": data,
    "certificate-authority": file = "",
  } = config.clusters[0]?.cluster ?? {};
  const ca = data ? Buffer.from(data, "base64") : readFileSync(file);
  const used = new Set<string>();
  const refused: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const right = rightOf(method, url);
    const forward = httpsRequest(
      new URL(url, server),
      { method, headers, ca, servername: "localhost" },
      (answer: IncomingMessage) => {
        if (right) used.add(right);
        if (answer.statusCode === 403) refused.push(`${right} ${url}`);
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forward.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const close = () => {
    proxy.closeAllConnections();
    proxy.close();
  };
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, used, refused, close };
}

type About = { kubeconfig: string; account: string; dir: string };

/**
 * Writes `kubeconfig.<account>` to `dir`: the API server of the kubeconfig as that account of the namespace `svc`, by way of a
 * recorder.
 */
export async function recordAccount(kube: Kube, { kubeconfig, account, dir }: About): Promise<Recorder> {
  const path = `/api/v1/namespaces/svc/serviceaccounts/${account}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const answer = (await kube.transport.request({ method: "POST", path, body })) as {
    status: { token: string };
  };
  const config = parse(readFileSync(kubeconfig, "utf8")) as Config;
  const recorder = await startRecorder(config);
  config.users = config.users.map(({ name }) => ({ name, user: { token: answer.status.token } }));
  config.clusters = config.clusters.map((one) => ({ ...one, cluster: { server: recorder.url } }));
  writeFileSync(join(dir, `kubeconfig.${account}`), stringify(config), { mode: 0o600 });
  return recorder;
}
