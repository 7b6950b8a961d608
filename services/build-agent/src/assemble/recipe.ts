// Reads the instructions of one stage into what the assembler does. Whatever would execute something is refused with the
// setting that names a builder which does (docs/reference/builds.md#builders).

import { posix } from "node:path";
import type { Instruction } from "./dockerfile.ts";
import { expand, jsonWords, splitWords, type Variables } from "./words.ts";

/** `config` of an image as the OCI specification names its fields. */
export type RunConfig = {
  User?: string;
  ExposedPorts?: Record<string, object>;
  Env?: string[];
  Entrypoint?: string[] | null;
  Cmd?: string[] | null;
  Volumes?: Record<string, object>;
  WorkingDir?: string;
  Labels?: Record<string, string>;
  StopSignal?: string;
};

export type Copy = {
  line: number;
  /** As written, for the image's history. */
  text: string;
  sources: string[];
  /** Absolute; ends with a slash when it must be a folder. */
  target: string;
  owner: { uid: number; gid: number };
  mode: number | undefined;
  /** Archives among the sources are unpacked. */
  isAdd: boolean;
};

export type Recipe = { base: string; copies: Copy[]; config: RunConfig };

/** What `config` is before the first instruction, known only when the base is. */
type Inherit = (base: string) => Promise<RunConfig>;

/** Of one instruction, and of what all variables are replaced with. */
const mostChars = 65_536;
const mostExpanded = 1 << 20;

const elsewhere = "set builds.builder to an image with buildah, which can";

export async function readRecipe(instructions: readonly Instruction[], inherit: Inherit): Promise<Recipe> {
  const defaults = new Map<string, string>();
  let stage: Stage | undefined;
  for (const instruction of instructions) {
    const { name, line } = instruction;
    try {
      if (name === "FROM") {
        if (stage) throw new Error(`this builder does not support a second stage; ${elsewhere}`);
        const base = baseOf(instruction, defaults);
        const config = structuredClone(await inherit(base));
        stage = { base, copies: [], config, args: new Map(), defaults, expanded: 0 };
      } else if (!stage) {
        if (name !== "ARG") throw new Error("the first instruction must be FROM");
        for (const [key, value] of pairsOf(instruction.rest, defaults)) defaults.set(key, value ?? "");
      } else {
        apply(stage, instruction);
      }
    } catch (error) {
      throw new Error(`Dockerfile line ${line}: ${name}: ${(error as Error).message}`, { cause: error });
    }
  }
  if (!stage) throw new Error("the Dockerfile has no FROM");
  return { base: stage.base, copies: stage.copies, config: stage.config };
}

type Stage = Recipe & {
  args: Map<string, string>;
  defaults: Variables;
  /** Characters that variables were replaced with, over all instructions: they can double with each. */
  expanded: number;
};

function baseOf({ rest, flags }: Instruction, defaults: Variables): string {
  if (flags.has("platform")) throw new Error("--platform is not known to this builder");
  const [base = "", as, name, ...more] = splitWords(expand(rest, defaults));
  const isNamed = as === undefined || (as.toLowerCase() === "as" && name !== undefined);
  if (base === "" || !isNamed || more.length > 0) throw new Error("must be FROM IMAGE or FROM IMAGE AS NAME");
  return base;
}

function apply(stage: Stage, instruction: Instruction): void {
  const act = Object.hasOwn(acts, instruction.name) ? acts[instruction.name] : undefined;
  if (!act) throw new Error("is not an instruction that this builder knows");
  if (instruction.rest.length > mostChars) throw new Error(`is longer than ${mostChars} characters`);
  act(stage, instruction, variablesOf(stage));
}

function variablesOf(stage: Stage): Variables {
  const variables = new Map([...stage.args, ...pairsIn(stage.config.Env ?? [])]);
  return {
    get: (name) => {
      const value = variables.get(name);
      stage.expanded += value?.length ?? 0;
      if (stage.expanded > mostExpanded)
        throw new Error(`the variables of the Dockerfile come to more than ${mostExpanded} characters`);
      return value;
    },
  };
}

function pairsIn(env: readonly string[]): [name: string, value: string][] {
  return env.map((entry) => {
    const equals = entry.indexOf("=");
    return [entry.slice(0, equals), entry.slice(equals + 1)];
  });
}

type Act = (stage: Stage, instruction: Instruction, variables: Variables) => void;

const refuse =
  (reason: string): Act =>
  () => {
    throw new Error(reason);
  };

const acts: Record<string, Act> = {
  RUN: refuse(`this builder executes nothing; ${elsewhere}`),
  ONBUILD: refuse("is not supported"),
  SHELL: refuse(`this builder executes nothing; ${elsewhere}`),
  HEALTHCHECK: refuse("is not part of the OCI image format"),
  MAINTAINER: ({ config }, { rest }) => {
    config.Labels = { ...config.Labels, maintainer: rest };
  },
  COPY: (stage, instruction, variables) => addCopy(stage, instruction, variables),
  ADD: (stage, instruction, variables) => addCopy(stage, instruction, variables),
  ENV: ({ config }, { rest }, variables) => {
    const env = new Map(pairsIn(config.Env ?? []));
    for (const [key, value] of pairsOf(rest, variables, { isOldForm: true })) {
      env.delete(key);
      env.set(key, value ?? "");
    }
    config.Env = [...env].map(([key, value]) => `${key}=${value}`);
  },
  ARG: (stage, { rest }, variables) => {
    for (const [key, value] of pairsOf(rest, variables))
      stage.args.set(key, value ?? stage.defaults.get(key) ?? "");
  },
  LABEL: ({ config }, { rest }, variables) => {
    const labels = pairsOf(rest, variables, { isOldForm: true }).map(([key, value]) => [key, value ?? ""]);
    config.Labels = { ...config.Labels, ...Object.fromEntries(labels) };
  },
  USER: ({ config }, { rest }, variables) => {
    config.User = one(rest, variables);
  },
  WORKDIR: ({ config }, { rest }, variables) => {
    config.WorkingDir = posix.resolve("/", config.WorkingDir ?? "/", one(rest, variables));
  },
  STOPSIGNAL: ({ config }, { rest }, variables) => {
    config.StopSignal = one(rest, variables);
  },
  EXPOSE: ({ config }, { rest }, variables) => {
    config.ExposedPorts ??= {};
    for (const word of splitWords(expand(rest, variables))) {
      const port = /^(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp|sctp))?$/.exec(word);
      if (!port) throw new Error(`${word} is not a port`);
      config.ExposedPorts[`${port[1]}/${port[2] ?? "tcp"}`] = {};
    }
  },
  VOLUME: ({ config }, { rest }, variables) => {
    const words = jsonWords(rest) ?? splitWords(rest);
    const volumes = words.map((word) => [expand(word, variables), {}]);
    config.Volumes = { ...config.Volumes, ...Object.fromEntries(volumes) };
  },
  ENTRYPOINT: ({ config }, { rest }) => {
    config.Entrypoint = commandOf(rest);
    // As Docker does: a command of the base belonged to the entrypoint of the base.
    config.Cmd = null;
  },
  CMD: ({ config }, { rest }) => {
    config.Cmd = commandOf(rest);
  },
};

function commandOf(rest: string): string[] {
  return jsonWords(rest) ?? ["/bin/sh", "-c", rest];
}

function one(rest: string, variables: Variables): string {
  const [word = "", ...more] = splitWords(rest);
  if (word === "" || more.length > 0) throw new Error("takes exactly one word");
  return expand(word, variables);
}

/** `A=b C=d`, or in the old form `A b` of one pair. */
function pairsOf(
  rest: string,
  variables: Variables,
  { isOldForm = false } = {},
): [key: string, value: string | undefined][] {
  const words = splitWords(rest);
  const [first = ""] = words;
  if (first === "") throw new Error("takes at least one name");
  if (isOldForm && !first.includes("=")) {
    const value = rest.slice(rest.indexOf(first) + first.length).trim();
    if (value === "") throw new Error(`${first} has no value`);
    return [[first, expand(value, variables)]];
  }
  return words.map((word) => {
    const equals = word.indexOf("=");
    if (equals < 0 && isOldForm) throw new Error(`${word} has no value`);
    if (equals < 0) return [word, undefined];
    return [expand(word.slice(0, equals), variables), expand(word.slice(equals + 1), variables)];
  });
}

function addCopy(stage: Stage, { name, line, flags, rest }: Instruction, variables: Variables): void {
  for (const flag of flags.keys())
    if (flag === "from") throw new Error(`--from is not known to this builder; ${elsewhere}`);
    else if (flag !== "chown" && flag !== "chmod") throw new Error(`--${flag} is not known to this builder`);
  if (/(^|\s)<<-?["'A-Za-z_]/.test(rest))
    throw new Error(`texts in the Dockerfile are not known; ${elsewhere}`);
  const words = (jsonWords(rest) ?? splitWords(rest)).map((word) => expand(word, variables));
  const last = words.pop() ?? "";
  if (words.length === 0) throw new Error("takes at least one source and a target");
  const remote = words.find((word) => /^(https?:|ftp:|git@|git:|ssh:)/i.test(word));
  if (remote !== undefined)
    throw new Error(`${remote} is not in the context; nothing is downloaded in a build`);
  const isFolder = words.length > 1 || /(^|\/)\.?$/.test(last);
  const path = posix.resolve("/", stage.config.WorkingDir ?? "/", last);
  if (path.includes("\0")) throw new Error("a path must not contain a NUL");
  stage.copies.push({
    line,
    text: `${name} ${rest}`,
    sources: words,
    target: isFolder && path !== "/" ? `${path}/` : path,
    owner: ownerOf(expand(flags.get("chown") ?? "0:0", variables)),
    mode: modeOf(flags.get("chmod")),
    isAdd: name === "ADD",
  });
}

function ownerOf(text: string): Copy["owner"] {
  const [, uid, gid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (uid === undefined)
    throw new Error(`--chown=${text}: this builder takes numbers such as 1000:1000, not names`);
  return { uid: Number(uid), gid: Number(gid ?? uid) };
}

function modeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-7]{3,4}$/.test(text)) throw new Error(`--chmod=${text} is not an octal mode such as 644`);
  return Number.parseInt(text, 8) & 0o777;
}
