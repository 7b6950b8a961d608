// A process that dies: from one chosen effect on, before or after it came about, nothing of it reaches anything.

import type { ReaperDeps } from "../reaper.ts";

/** What a run changes, by the names of the kill table. */
export type Effect = "hold" | "lock" | "job row" | "job" | "volume" | "release" | "unlock";

type Call = { on: "kube" | "mesh" | "db"; method: string; args: readonly unknown[] };
const has = (value: unknown, text: string) => (JSON.stringify(value) ?? "").includes(text);

const isEffect: Record<Effect, (call: Call) => boolean> = {
  hold: ({ on, args }) => on === "mesh" && has(args[0], "lifecycle.world.hold"),
  lock: ({ on, method, args }) => on === "kube" && method === "patch" && has(args[2], "reap@"),
  unlock: ({ on, method, args }) =>
    on === "kube" && method === "patch" && has(args[2], '"svc.internal/maintenance":null'),
  "job row": ({ on, method }) => on === "db" && method === "transaction",
  job: ({ on, method, args }) => on === "kube" && method === "create" && has(args[1], 'mode\\":\\"backup'),
  volume: ({ on, method, args }) =>
    on === "kube" && method === "remove" && has(args[0], "PersistentVolumeClaim"),
  release: ({ on, args }) => on === "mesh" && has(args[0], "lifecycle.world.release"),
};

export type Death = { at: Effect; when: "before" | "after" };

/** `deps` of a process that dies there; `hasDied` tells whether it came so far. */
export function killedAt(death: Death): { change: (deps: ReaperDeps) => ReaperDeps; hasDied: () => boolean } {
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new Error("killed");
  };
  const wrap = <T extends object>(on: Call["on"], target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value = Reflect.get(object, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (isDead) throw new Error("killed");
          const isIt = isEffect[death.at]({ on, method: String(name), args });
          if (isIt && death.when === "before") die();
          const result = value.apply(object, args);
          if (!isIt) return result;
          return on === "db" ? afterTransaction(result, die) : Promise.resolve(result).then(die, die);
        };
      },
    });
  return {
    hasDied: () => isDead,
    change: (deps) => ({
      ...deps,
      kube: wrap("kube", deps.kube),
      mesh: wrap("mesh", deps.mesh as object) as ReaperDeps["mesh"],
      db: wrap("db", deps.db),
    }),
  };
}

function afterTransaction(builder: unknown, die: () => never): unknown {
  const { execute } = builder as { execute: (work: unknown) => Promise<unknown> };
  return { execute: (work: unknown) => execute.call(builder, work).then(die, die) };
}
