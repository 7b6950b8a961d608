import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../atomic-file.ts";
import { defaultCacheDirs } from "../fetch/find.ts";
import { findNatsServer } from "../nats/find.ts";
import { prepareNats } from "../nats/nats.ts";
import { preparePostgres } from "../postgres/postgres.ts";
import { programEnv, runProgram, type StackPrograms } from "../program/programs.ts";
import type { ChildSpec } from "../supervisor/child.ts";
import type { StackContext } from "./context.ts";
import type { EmbeddedPart } from "./embedded-parts.ts";
import { natsFolder, natsServersOf } from "./nats-servers.ts";

// They stop side by side after the services. The cluster gives game servers and world Jobs 18 s to end.
const stopMs = { postgres: 3_000, nats: 2_000, "local-cluster": 20_000, "mail-sink": 1_000 };

async function postgresSpec({ paths, secrets, ports, say }: StackContext): Promise<ChildSpec> {
  const plan = await preparePostgres({
    dataDir: paths.postgres,
    port: ports.postgres,
    password: secrets.postgres,
    onCreate: () => say("preparing the database (first start) ..."),
  });
  return { ...plan, name: "postgres", stopTimeoutMs: stopMs.postgres };
}

async function natsSpecs(
  { paths, secrets, ports, options, say }: StackContext,
  programs: Promise<StackPrograms>,
): Promise<ChildSpec[]> {
  const [binary, extraConfig] = await Promise.all([
    findNatsServer({
      env: options.env,
      cacheDirs: [...defaultCacheDirs(options.env, options.repo), join(paths.data, "cache")],
      progress: say,
    }),
    options.natsConfig(secrets.nats, programs),
  ]);
  const servers = natsServersOf(options);
  const portOf = (name: string) => ports[name] ?? 0;
  const routePorts = servers.map(({ routes }) => portOf(routes));
  return servers.map((server) => {
    const { name, routes } = server;
    const peers = { name, routePort: portOf(routes), routePorts, password: secrets.natsRoutes };
    const plan = prepareNats({
      ...{ binary, extraConfig, dataDir: natsFolder(paths.nats, server), port: portOf(name) },
      ...(servers.length > 1 && { cluster: peers }),
    });
    return { ...plan, name, stopTimeoutMs: stopMs.nats };
  });
}

function imagesFile({ options, paths }: StackContext, programs: StackPrograms): string {
  const { images } = options.cluster;
  if (typeof images === "string") return images;
  writeFileAtomic(paths.imagesFile, `${JSON.stringify(images(programs), null, 2)}\n`);
  return paths.imagesFile;
}

function clusterSpec(context: StackContext, programs: StackPrograms): ChildSpec {
  const { paths, ports, options, nodeEnv, facts } = context;
  const { nodes = 2, serviceAccounts } = options.cluster;
  mkdirSync(paths.cluster, { recursive: true, mode: 0o700 });
  const port = String(ports["local-cluster"]);
  return {
    name: "local-cluster",
    command: process.execPath,
    args: [
      ...runProgram(programs, "local-cluster"),
      ...["--data", paths.cluster, "--port", port],
      ...["--images", imagesFile(context, programs), "--nodes", String(nodes)],
      ...(facts.registryHost === undefined ? [] : ["--registry", facts.registryHost]),
      ...serviceAccounts.flatMap((account) => ["--service-account", account]),
    ],
    env: { ...nodeEnv, ...programEnv(programs) },
    cwd: options.repo,
    ready: { line: (line) => line.startsWith("local-cluster: ready at ") },
    stopTimeoutMs: stopMs["local-cluster"],
  };
}

function mailSpec({ paths, ports, nodeEnv }: StackContext, programs: StackPrograms): ChildSpec {
  return {
    name: "mail-sink",
    command: process.execPath,
    args: [...runProgram(programs, "mail-sink"), paths.mail, String(ports.smtp), String(ports["mail-page"])],
    env: { ...nodeEnv, ...programEnv(programs) },
    ready: { line: (line) => line.startsWith("mail sink: ready at ") },
    stopTimeoutMs: stopMs["mail-sink"],
  };
}

/** Prepares the processes of one part, including the slow work of the first start (initdb, download of NATS, the bundling of programs). */
export async function embeddedSpecs(
  part: EmbeddedPart,
  context: StackContext,
  programs: Promise<StackPrograms>,
): Promise<ChildSpec[]> {
  if (part === "postgres") return [await postgresSpec(context)];
  if (part === "nats") return natsSpecs(context, programs);
  if (part === "local-cluster") return [clusterSpec(context, await programs)];
  return [mailSpec(context, await programs)];
}
