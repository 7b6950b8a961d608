// The effects of a replica that runs schedules, for killing it at one of them.

import type { ScheduleDeps } from "../../schedule/deps.ts";
import { countDownTo, type KillPoint } from "../kill-point.ts";

export function withKillPoint(
  deps: ScheduleDeps,
  point: KillPoint,
): { deps: ScheduleDeps; isKilled: () => boolean; effects: () => readonly string[] } {
  const { counted, isKilled, effects } = countDownTo(point);
  const { schedules, triggers, kube, mesh, rcon } = deps;
  return {
    isKilled,
    effects,
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
