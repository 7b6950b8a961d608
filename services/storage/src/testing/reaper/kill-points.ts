// Kill points of the reaper: from before or after a chosen effect on, the process has no further effect.

import { setTimeout as delay } from "node:timers/promises";
import type { ReaperDeps } from "../../reaper/reaper.ts";

/** The changes that a run makes, by the names of the kill table. */
type Effect = "hold" | "lock" | "job row" | "job" | "volume" | "release" | "unlock";

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

export type KillPoint = { at: Effect; when: "before" | "after" };

/** `deps` of a process that dies there; `hasDied` returns whether it got that far. */
export function killAt(death: KillPoint): {
  change: (deps: ReaperDeps) => ReaperDeps;
  hasDied: () => boolean;
} {
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new Error("killed");
  };
  const change = around((call, act) => {
    if (isDead) throw new Error("killed");
    if (!isEffect[death.at](call)) return act();
    if (death.when === "before") die();
    return then(act(), die);
  });
  return { hasDied: () => isDead, change };
}

/** `deps` of a process that keeps running while a dependency dies there and is back a moment later. */
export function interruptAt(
  death: KillPoint,
  { inject, recover }: { inject: () => Promise<unknown>; recover: () => Promise<unknown> },
): { change: (deps: ReaperDeps) => ReaperDeps; hasDied: () => boolean } {
  let hasDied = false;
  const change = around((call, act) => {
    if (hasDied || !isEffect[death.at](call)) return act();
    hasDied = true;
    if (death.when === "after") return then(act(), () => inject().then(recover));
    const during = async (work: () => unknown) => {
      await inject();
      const recovered = delay(300).then(recover);
      try {
        return await work();
      } finally {
        await recovered;
      }
    };
    if (call.on !== "db") return during(act);
    const builder = act() as Builder;
    return { execute: (work: unknown) => during(() => builder.execute(work)) };
  });
  return { hasDied: () => hasDied, change };
}

type Builder = { execute: (work: unknown) => Promise<unknown> };

/** Wraps every call of a process to its dependencies. */
function around(wrap: (call: Call, act: () => unknown) => unknown): (deps: ReaperDeps) => ReaperDeps {
  const wrapped = <T extends object>(on: Call["on"], target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value = Reflect.get(object, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) =>
          wrap({ on, method: String(name), args }, () => value.apply(object, args));
      },
    });
  return (deps) => ({
    ...deps,
    kube: wrapped("kube", deps.kube),
    mesh: wrapped("mesh", deps.mesh as object) as ReaperDeps["mesh"],
    db: wrapped("db", deps.db),
  });
}

/** Runs something after a call has succeeded or failed; a transaction, after it was executed. */
function then(result: unknown, act: () => unknown): unknown {
  if (result instanceof Promise) return afterwards(result, act);
  const builder = result as Builder;
  return { execute: (work: unknown) => afterwards(builder.execute(work), act) };
}

async function afterwards(result: Promise<unknown>, act: () => unknown): Promise<unknown> {
  try {
    return await result;
  } finally {
    await act();
  }
}
