// Nodes for any API server, as a program: main.ts --kubeconfig FILE --data DIR --images FILE --pod-network CIDR --node NAME …

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { SandboxOptions } from "../node/sandbox.ts";
import { type RemoteNodesOptions, startRemoteNodes } from "./start.ts";

const usage =
  "usage: main.ts --kubeconfig FILE --data DIR --images FILE --pod-network CIDR --node NAME … [--namespace NAME …] [--label KEY=VALUE …] [--sandbox FILE] [--advertise HOST:PORT --log-socket PATH]";

function required(text: string | undefined, name: string): string {
  if (!text) throw new Error(`--${name} is missing; ${usage}`);
  return text;
}

function pair(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  if (at < 1) throw new Error(`"${text}" has no "${by}"; ${usage}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseOptions(args: string[]): RemoteNodesOptions {
  const { values } = parseArgs({
    args,
    options: {
      kubeconfig: { type: "string" },
      data: { type: "string" },
      images: { type: "string" },
      "pod-network": { type: "string" },
      node: { type: "string", multiple: true, default: [] },
      namespace: { type: "string", multiple: true, default: [] },
      label: { type: "string", multiple: true, default: [] },
      sandbox: { type: "string" },
      advertise: { type: "string" },
      "log-socket": { type: "string" },
    },
  });
  const [host, port] = values.advertise ? pair(values.advertise, ":") : [];
  const network = required(values["pod-network"], "pod-network");
  if (!/^\d+(\.\d+){3}\/\d+$/.test(network))
    throw new Error(`--pod-network ${network} is not a network; ${usage}`);
  required(values.node[0], "node");
  return {
    kubeconfig: resolve(required(values.kubeconfig, "kubeconfig")),
    dataDir: resolve(required(values.data, "data")),
    images: resolve(required(values.images, "images")),
    podNetwork: network,
    nodes: values.node,
    namespaces: values.namespace,
    ...(values.label.length > 0 && {
      labels: Object.fromEntries(values.label.map((text) => pair(text, "="))),
    }),
    ...(values.sandbox && { sandbox: JSON.parse(readFileSync(values.sandbox, "utf8")) as SandboxOptions }),
    ...(host && port && { advertise: { host, port: Number(port) } }),
    ...(values["log-socket"] && { logListen: values["log-socket"] }),
  };
}

async function main(): Promise<void> {
  const warn = (text: string) => process.stderr.write(`nodes: ${text}\n`);
  const options = parseOptions(process.argv.slice(2));
  const nodes = await startRemoteNodes({ ...options, warn });
  const { promise: asked, resolve: stop } = Promise.withResolvers<void>();
  process.once("SIGTERM", () => stop());
  process.once("SIGINT", () => stop());
  process.stdout.write(`nodes: ready: ${options.nodes.join(", ")}\n`);
  await asked;
  await nodes.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`nodes: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
