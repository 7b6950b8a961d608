// An installation as the tests of the local stack see one: the command line and the faces, at the addresses of Services.

import { join } from "node:path";
import { type Kube, resources } from "@svc/kube";
import type { Values } from "../../services/cli/src/manifests/values/schema.ts";
import type { Stack, StackFile } from "../flow/stack.ts";
import { installedStack } from "./installed-stack.ts";

type Installed = { kube: Kube; values: Values; dir: string; sessionServer: string };

async function describe({ kube, values, dir }: Installed): Promise<StackFile> {
  const { control: namespace } = values.namespaces;
  const secretOf = async (name: string) => {
    const { data = {} } = await kube.get(resources.secrets, { name, namespace });
    return (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
  };
  const addressOf = async (name: string) =>
    (await kube.get(resources.services, { name, namespace })).spec?.clusterIP ?? "";
  const nats = await secretOf(values.secrets.nats);
  const tokens = await secretOf(values.secrets.tokens);
  const database = await secretOf(values.secrets.database);
  return {
    internal_base_url: `http://${await addressOf("gateway-internal")}:8081`,
    external_base_url: `http://${await addressOf("gateway-external")}:8080`,
    root_domain: values.rootDomain,
    panel_host: `console.${values.rootDomain}`,
    admin_host: `op.console.${values.rootDomain}`,
    setup_url: "",
    tokens: {
      velocity: tokens("velocity"),
      limbo: tokens("limbo"),
      build: tokens("build"),
      ops: tokens("ops"),
      sftp: tokens("sftp"),
    },
    nats_url: `nats://operator:${nats("operator")}@${await addressOf("nats")}:4222`,
    database_url: `postgres://postgres:${database("admin")}@${await addressOf("postgres")}:5432/svc`,
    kubeconfig: "",
    mail: { smtp_url: "", dir: join(dir, "mail"), page: "" },
    game: { host: await addressOf("proxy"), port: values.proxy.port },
    processes: [],
  };
}

export async function stackOfPods(installed: Installed): Promise<Stack> {
  const { setup_url: _, ...file } = await describe(installed);
  return installedStack({ ...installed, file });
}
