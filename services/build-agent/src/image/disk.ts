import { statfs } from "node:fs/promises";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";

/** Stops the work when it leaves too little of a volume free: not every volume of a build has a limit of its own. */
export async function withinDisk<T>(
  folder: string,
  context: StepContext,
  work: (context: StepContext) => Promise<T>,
): Promise<T> {
  const { keepFree, diskCheckMs } = context.limits;
  const full = new AbortController();
  const check = async () => {
    const { bavail, blocks } = await statfs(folder);
    if (bavail >= blocks * keepFree) return;
    full.abort(new StepFailure(`the build leaves less than ${keepFree * 100} % of its disk free`));
  };
  const timer = setInterval(() => void check().catch(() => undefined), diskCheckMs);
  try {
    return await work({ ...context, signal: AbortSignal.any([context.signal, full.signal]) });
  } finally {
    clearInterval(timer);
  }
}
