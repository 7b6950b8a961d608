// Kills a replica at a chosen point: just before or just after its n-th effect. None of its calls works afterwards.

import type { ScheduleDeps } from "../../schedule/deps.ts";

export type KillPoint = { at: number; when: "before" | "after" };

type Work = (...args: never[]) => Promise<unknown>;

export function withKillPoint(
  deps: ScheduleDeps,
  point: KillPoint,
): { deps: ScheduleDeps; isKilled: () => boolean; effects: () => readonly string[] } {
  const effects: string[] = [];
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    // A killed process neither answers nor fails.
    return new Promise<never>(() => {});
  };
  const counted = <W extends Work>(name: string, work: W): W =>
    (async (...args: never[]) => {
      if (isKilled) return kill();
      effects.push(name);
      const isLast = effects.length === point.at;
      if (isLast && point.when === "before") return kill();
      const doing = work(...args);
      await doing.catch(() => {});
      return isLast || isKilled ? kill() : doing;
    }) as unknown as W;
  const { schedules, triggers, kube, mesh, rcon } = deps;
  return {
    isKilled: () => isKilled,
    effects: () => effects,
    deps: {
      ...deps,
      schedules: {
        ...schedules,
        claim: counted("claim", schedules.claim),
        beginStep: counted("begin", schedules.beginStep),
        move: counted("move", schedules.move),
        finish: counted("finish", schedules.finish),
        changeAtRest: counted("change", schedules.changeAtRest),
      },
      triggers: {
        ...triggers,
        begin: counted("begin-presence", triggers.begin),
        change: counted("change-presence", triggers.change),
        note: counted("note", triggers.note),
        claim: counted("claim-for", triggers.claim),
        drop: counted("drop", triggers.drop),
        miss: counted("miss", triggers.miss),
      },
      kube: { ...kube, patch: counted("patch", kube.patch) },
      mesh: { ...mesh, audit: mesh.audit, call: counted("call", mesh.call) },
      rcon: { run: counted("run", rcon.run) },
    },
  };
}
