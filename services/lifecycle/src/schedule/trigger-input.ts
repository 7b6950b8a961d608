// On what a task may run instead of the clock (docs/reference/schedules.md#triggers). Pure.

import { schedules as contracts, type InputOf } from "@svc/proto";
import type { ScheduleSettings } from "./row.ts";

type Input = Pick<InputOf<typeof contracts.create>, "trigger" | "trigger_minutes" | "pause_minutes">;
type Settings = Pick<ScheduleSettings, "trigger" | "trigger_minutes" | "pause_minutes">;

/** The trigger of an input, or what is wrong with it; what does not go with it is 0. */
export function triggerOfInput(input: Input): Settings | { problem: string } {
  const { scheduleTriggers, maxTriggerMinutes, maxPauseMinutes, triggerDefaults } = contracts;
  const { trigger: wanted = "" } = input;
  const trigger = scheduleTriggers.find((one) => one === wanted);
  if (!trigger && wanted !== "") return { problem: `trigger must be one of ${scheduleTriggers.join(", ")}.` };
  const { trigger_minutes: minutes = triggerDefaults.minutes, pause_minutes: pause = triggerDefaults.pause } =
    input;
  if (!isWhole(minutes, 0, maxTriggerMinutes)) {
    return { problem: `trigger_minutes must be 0 to ${maxTriggerMinutes}.` };
  }
  if (!isWhole(pause, 1, maxPauseMinutes)) {
    return { problem: `pause_minutes must be 1 to ${maxPauseMinutes}.` };
  }
  if (!trigger) return { trigger: "", trigger_minutes: 0, pause_minutes: 0 };
  return { trigger, trigger_minutes: trigger === "server_empty" ? minutes : 0, pause_minutes: pause };
}

function isWhole(value: number, from: number, to: number): boolean {
  return Number.isInteger(value) && value >= from && value <= to;
}
