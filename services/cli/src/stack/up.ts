import { join, resolve } from "node:path";
import { checkOverrides } from "@svc/config";
import {
  allServiceNames,
  announcement,
  chooseServices,
  findStackFile,
  runStack,
  runSvc,
  runToEnd,
  type StackFile,
  type StackOptions,
  startDetached,
  takesLocalNames,
} from "@svc/local-stack";
import { environment } from "../config.ts";
import { hintData } from "../hint.ts";
import { systemForwardingFiles } from "../local-config/forwarding-files.ts";
import { imageTable } from "../local-config/image-table.ts";
import { localConfig } from "../local-config/settings.ts";
import { CommandError, type Outcome, UsageError } from "../output.ts";
import { buildEnvironment } from "./build-environment.ts";

type UpOptions = {
  data: string;
  detach?: boolean;
  ports: "fixed" | "auto";
  replicas?: string[];
  only?: string[];
  sftp?: boolean;
  set?: string[];
  json?: boolean;
  unannounced?: boolean;
};

const repo = resolve(import.meta.dirname, "../../../..");

/** Starts the stack and stays in the foreground, or, with `--detach`, returns once it is ready. */
export async function up(options: UpOptions): Promise<Outcome> {
  checkOverrides(options.set ?? []);
  chooseServices(chosen(options));
  const stackFile = join(options.data, "stack.json");
  const say = (line: string) => process.stderr.write(`svc: ${line}\n`);
  if (options.detach) {
    const [, main = ""] = process.argv;
    const supervisor = runSvc(repo, main);
    await startDetached({
      data: options.data,
      command: process.execPath,
      args: [...supervisor.args, ...foregroundArguments(options)],
      env: { ...environment(), ...supervisor.env },
      // The supervisor repeats the announcement in its log; only progress is printed here.
      say: (line) => void (line.startsWith("svc: ") && process.stderr.write(`${line}\n`)),
      announce: () => undefined,
    });
    return describe(findStackFile(stackFile), stackFile, options.data);
  }
  const announce = (text: string) =>
    options.unannounced ||
    process.stdout.write(options.json ? `${JSON.stringify(findStackFile(stackFile))}\n` : `${text}\n`);
  await runStack({ ...stackOptions(options), say, announce: (text) => void announce(text) });
  return { json: { stopped: true }, text: "" };
}

function describe(stack: StackFile | undefined, path: string, data: string): Outcome {
  if (!stack) throw new CommandError("the stack stopped right after its start; see its logs");
  return { json: stack, text: announcement(stack, path, hintData(data)) };
}

function foregroundArguments(options: UpOptions): string[] {
  return [
    "up",
    `--data=${options.data}`,
    `--ports=${options.ports}`,
    // The supervisor's log must not contain the setup link.
    "--unannounced",
    ...(options.replicas ?? []).map((entry) => `--replicas=${entry}`),
    ...(options.only ? [`--only=${options.only.join(",")}`] : []),
    ...(options.sftp ? ["--sftp"] : []),
    ...(options.set ?? []).map((entry) => `--set=${entry}`),
  ];
}

function stackOptions(options: UpOptions): Omit<StackOptions, "say" | "announce"> {
  return {
    data: options.data,
    repo,
    env: environment(),
    ports: options.ports,
    ...hinted(options.data),
    ...chosen(options),
    ...(options.set ? { set: options.set } : {}),
    natsConfig: async (passwords, programs) =>
      runToEnd(await programs, "nats-users", { input: passwords, env: environment() }),
    forwardingSecrets: systemForwardingFiles,
    configToml: (facts) =>
      localConfig(facts, {
        takesNames: facts.forwardingSecret !== undefined && takesLocalNames(environment()),
      }),
    fillRegistry: async ({ signal, ...input }, programs) => {
      await runToEnd(programs, "publish-base-images", { input, env: environment(), signal });
    },
    cluster: {
      images: ({ file, compileCache }) =>
        imageTable(repo, process.execPath, {
          file: file("world-agent"),
          compileCache,
          buildEnv: buildEnvironment(environment(), repo),
        }),
      serviceAccounts: ["svc/lifecycle", "svc/storage", "svc/builds", "svc/ops-watchdog"],
    },
  };
}

function hinted(data: string): Pick<StackOptions, "hintData"> {
  const folder = hintData(data);
  return folder === undefined ? {} : { hintData: folder };
}

function chosen({ replicas, only, sftp }: UpOptions): Pick<StackOptions, "replicas" | "only" | "sftp"> {
  return { replicas: parseReplicas(replicas ?? []), ...(only && { only }), ...(sftp && { sftp }) };
}

function parseReplicas(entries: readonly string[]): Record<string, number> {
  return Object.fromEntries(entries.map(parseReplica));
}

function parseReplica(entry: string): [string, number] {
  const [, name = "", count = ""] = /^([a-z-]+)=([1-9]\d?)$/.exec(entry) ?? [];
  const names: readonly string[] = [...allServiceNames, "nats"];
  if (names.includes(name)) return [name, Number(count)];
  throw new UsageError(`--replicas ${entry}: write SERVICE=N with one of ${names.join(", ")}`);
}
