import { join, resolve } from "node:path";
import { checkOverrides } from "@svc/config";
import {
  allServiceNames,
  announcement,
  findStackFile,
  runStack,
  type StackFile,
  type StackOptions,
  startDetached,
  takesLocalNames,
} from "@svc/local-stack";
import { natsAuthorization } from "@svc/proto";
import { environment } from "../config.ts";
import { CommandError, type Outcome } from "../output.ts";
import { imageTable } from "./image-table.ts";
import { localConfig } from "./local-config.ts";

export type UpOptions = {
  data: string;
  detach?: boolean;
  ports: "fixed" | "auto";
  replicas?: string[];
  only?: string[];
  set?: string[];
  json?: boolean;
};

const repo = resolve(import.meta.dirname, "../../../..");

/** Starts the whole stack and stays with it, or, with `--detach`, returns once it is ready. */
export async function up(options: UpOptions): Promise<Outcome> {
  checkOverrides(options.set ?? []);
  const stackFile = join(options.data, "stack.json");
  const say = (line: string) => process.stderr.write(`svc: ${line}\n`);
  if (options.detach) {
    const [, main = ""] = process.argv;
    await startDetached({
      data: options.data,
      command: process.execPath,
      args: [main, ...foregroundArguments(options)],
      env: environment(),
      // The supervisor repeats the announcement in its log; only its progress is for the person who waits.
      say: (line) => void (line.startsWith("svc: ") && process.stderr.write(`${line}\n`)),
      announce: () => undefined,
    });
    return describe(findStackFile(stackFile), stackFile);
  }
  const announce = (text: string) =>
    process.stdout.write(options.json ? `${JSON.stringify(findStackFile(stackFile))}\n` : `${text}\n`);
  await runStack({ ...stackOptions(options), say, announce });
  return { json: { stopped: true }, text: "" };
}

function describe(stack: StackFile | undefined, path: string): Outcome {
  if (!stack) throw new CommandError("the stack ended right after its start; see its logs");
  return { json: stack, text: announcement(stack, path) };
}

function foregroundArguments(options: UpOptions): string[] {
  return [
    "up",
    `--data=${options.data}`,
    `--ports=${options.ports}`,
    ...(options.replicas ?? []).map((entry) => `--replicas=${entry}`),
    ...(options.only ? [`--only=${options.only.join(",")}`] : []),
    ...(options.set ?? []).map((entry) => `--set=${entry}`),
  ];
}

function stackOptions(options: UpOptions): Omit<StackOptions, "say" | "announce"> {
  return {
    data: options.data,
    repo,
    env: environment(),
    ports: options.ports,
    replicas: parseReplicas(options.replicas ?? []),
    ...(options.only ? { only: options.only } : {}),
    ...(options.set ? { set: options.set } : {}),
    natsConfig: natsAuthorization,
    configToml: (facts) =>
      localConfig(facts, {
        takesNames: facts.forwardingSecret !== undefined && takesLocalNames(environment()),
      }),
    cluster: {
      images: imageTable(repo, process.execPath),
      serviceAccounts: ["svc/lifecycle", "svc/storage", "svc/builds"],
    },
  };
}

function parseReplicas(entries: readonly string[]): Record<string, number> {
  return Object.fromEntries(entries.map(parseReplica));
}

function parseReplica(entry: string): [string, number] {
  const [, name = "", count = ""] = /^([a-z-]+)=([1-9]\d?)$/.exec(entry) ?? [];
  if ((allServiceNames as readonly string[]).includes(name)) return [name, Number(count)];
  throw new CommandError(`--replicas ${entry}: write SERVICE=N with one of ${allServiceNames.join(", ")}`);
}
