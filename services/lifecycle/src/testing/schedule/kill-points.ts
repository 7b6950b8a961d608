// A replica that is killed at a chosen moment: just before or just after its n-th effect. Nothing of it works afterwards.

import type { ScheduleDeps } from "../../schedule/deps.ts";

export type KillPoint = { at: number; when: "before" | "after" };

type Work = (...args: never[]) => Promise<unknown>;

export function withKillPoint(
  deps: ScheduleDeps,
  death: KillPoint,
): { deps: ScheduleDeps; isDead: () => boolean; effects: () => readonly string[] } {
  const effects: string[] = [];
  let isDead = false;
  const die = () => {
    isDead = true;
    // A process that is gone neither answers nor fails.
    return new Promise<never>(() => {});
  };
  const counted = <W extends Work>(name: string, work: W): W =>
    (async (...args: never[]) => {
      if (isDead) return die();
      effects.push(name);
      const isLast = effects.length === death.at;
      if (isLast && death.when === "before") return die();
      const doing = work(...args);
      await doing.catch(() => {});
      return isLast || isDead ? die() : doing;
    }) as unknown as W;
  const { schedules, kube, mesh, rcon } = deps;
  return {
    isDead: () => isDead,
    effects: () => effects,
    deps: {
      ...deps,
      schedules: {
        ...schedules,
        claim: counted("claim", schedules.claim),
        move: counted("move", schedules.move),
        finish: counted("finish", schedules.finish),
        changeAtRest: counted("change", schedules.changeAtRest),
      },
      kube: { ...kube, patch: counted("patch", kube.patch) },
      mesh: { ...mesh, audit: mesh.audit, call: counted("call", mesh.call) },
      rcon: { run: counted("run", rcon.run) },
    },
  };
}
