// Reads address and credentials of the API server from the usual forms of a kubeconfig. Not by @kubernetes/client-node,
// which costs 90 MB resident; exec plugins and proxies are not supported.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { z } from "zod";

type Tls = {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  rejectUnauthorized?: boolean;
  servername?: string;
};
type Credentials = { headers: Record<string, string>; tls: Tls };
export type Access = { server: URL; read: () => Promise<Credentials> };

const Cluster = z.looseObject({
  server: z.string(),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": z.string().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": z.string().optional(),
  "proxy-url": z.string().optional(),
});
const User = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  "client-certificate": z.string().optional(),
  "client-certificate-data": z.string().optional(),
  "client-key": z.string().optional(),
  "client-key-data": z.string().optional(),
  exec: z.unknown().optional(),
  "auth-provider": z.unknown().optional(),
});
const Config = z.looseObject({
  "current-context": z.string(),
  clusters: z.array(z.object({ name: z.string(), cluster: Cluster })),
  users: z.array(z.object({ name: z.string(), user: User })).nullish(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.looseObject({ cluster: z.string(), user: z.string() }) }),
  ),
});

const podFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Reads the named kubeconfig, or the in-cluster credentials. Throws one sentence when it can't be used. */
export function openAccess(file: string | undefined, env: NodeJS.ProcessEnv): Access {
  try {
    const access = file ? fromFile(file) : fromPod(env);
    refusePlainHttp(access.server);
    return access;
  } catch (error) {
    const message = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`the kubeconfig ${file ?? "of the pod"} cannot be used: ${message}`);
  }
}

// A token must not cross a network unencrypted.
function refusePlainHttp(server: URL): void {
  if (server.protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(server.hostname))
    return;
  throw new Error(`${server.origin}: plain HTTP is only allowed on loopback; use HTTPS`);
}

function fromPod(env: NodeJS.ProcessEnv): Access {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (!host) throw new Error("not running in a pod; set SVC_KUBECONFIG to a kubeconfig file");
  const server = new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const read = async () => ({
    headers: { Authorization: `Bearer ${readFileSync(`${podFolder}/token`, "utf8").trim()}` },
    tls: { ca: readFileSync(`${podFolder}/ca.crt`) },
  });
  return { server, read };
}

// The local cluster writes JSON, which is YAML too: its readers need no parser of 3 MB.
function parseKubeconfig(text: string): unknown {
  if (text.startsWith("{")) return JSON.parse(text);
  const { parse } = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return parse(text);
}

function fromFile(file: string): Access {
  const config = Config.parse(parseKubeconfig(readFileSync(file, "utf8")));
  const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  if (!cluster) throw new Error(`its current context ${config["current-context"]} has no cluster`);
  const user = config.users?.find(({ name }) => name === context?.user)?.user ?? {};
  const server = new URL(cluster.server);
  if (user.exec || user["auth-provider"] || cluster["proxy-url"])
    return { server, read: () => readByLibrary(file) };
  const folder = dirname(resolve(file));
  return { server, read: async () => readPlain({ cluster, user, folder }) };
}

type Plain = { cluster: z.output<typeof Cluster>; user: z.output<typeof User>; folder: string };

function readPlain({ cluster, user, folder }: Plain): Credentials {
  const load = (data: string | undefined, path: string | undefined) =>
    data ? Buffer.from(data, "base64") : path ? readFileSync(resolve(folder, path)) : undefined;
  const ca = load(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = load(user["client-certificate-data"], user["client-certificate"]);
  const key = load(user["client-key-data"], user["client-key"]);
  const servername = cluster["tls-server-name"];
  return {
    headers: authorizationOf(user, folder),
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(cluster["insecure-skip-tls-verify"] && { rejectUnauthorized: false }),
    },
  };
}

function authorizationOf(user: z.output<typeof User>, folder: string): Record<string, string> {
  const file = user.tokenFile === undefined ? undefined : resolve(folder, user.tokenFile);
  const token = user.token ?? (file && existsSync(file) ? readFileSync(file, "utf8").trim() : undefined);
  if (token) return { Authorization: `Bearer ${token}` };
  if (user.username === undefined) return {};
  const pair = Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64");
  return { Authorization: `Basic ${pair}` };
}

async function readByLibrary(file: string): Promise<Credentials> {
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  config.loadFromFile(file);
  const options: import("node:https").RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value);
  if (options.auth) headers["Authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const { ca, cert, key, rejectUnauthorized, servername } = options as Tls;
  return {
    headers,
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
  };
}
