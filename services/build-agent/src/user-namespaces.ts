import { readFileSync } from "node:fs";
import { StepFailure } from "./failure.ts";

const everybody = 4_294_967_295;

/** Throws when root of this container is root of its node (docs/reference/builds.md#job). */
export function probeUserNamespaces(map = readFileSync("/proc/self/uid_map", "utf8")): string {
  const [inside, outside, count] = map.trim().split(/\s+/).map(Number);
  if (inside === 0 && outside === 0 && count === everybody)
    throw new StepFailure("the node gives this pod no user namespace");
  return "the pod has a user namespace of its own";
}
