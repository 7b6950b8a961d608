// A replica that is killed at a chosen point: just before or just after its n-th effect. None of its calls works afterwards.

import { isWhole } from "@svc/config/testing";

export type KillPoint = { at: number; when: "before" | "after" };

type Work = (...args: never[]) => Promise<unknown>;

type Countdown = {
  /** The same work as one of the effects. */
  counted: <W extends Work>(name: string, work: W) => W;
  isKilled: () => boolean;
  effects: () => readonly string[];
};

export function countDownTo({ at, when }: KillPoint): Countdown {
  const effects: string[] = [];
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    // A killed process neither answers nor fails.
    return new Promise<never>(() => {});
  };
  return {
    counted: <W extends Work>(name: string, work: W) =>
      (async (...args: never[]) => {
        if (isKilled) return kill();
        effects.push(name);
        const isLast = effects.length === at;
        if (isLast && when === "before") return kill();
        const doing = work(...args);
        await doing.catch(() => {});
        return isLast || isKilled ? kill() : doing;
      }) as unknown as W,
    isKilled: () => isKilled,
    effects: () => effects,
  };
}

/**
 * Kills before and after each effect, alternating when sampled, until `die` says that there are no more. Returns how many
 * were seen.
 */
export async function killAtEachPoint(die: (point: KillPoint) => Promise<boolean>): Promise<number> {
  let at = 1;
  let isKilled = true;
  while (isKilled) {
    if (isWhole || at % 2 === 1) isKilled = await die({ at, when: "before" });
    if (isKilled && (isWhole || at % 2 === 0)) isKilled = await die({ at, when: "after" });
    if (isKilled) at += 1;
  }
  return at;
}
