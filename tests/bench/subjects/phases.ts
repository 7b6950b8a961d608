// lifecycle's own way of recording a phase change, called from as many places at once as asked.

import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type { Tables } from "../../../services/lifecycle/src/database/schema.ts";
import { changePhases } from "../../../services/lifecycle/src/server/phase-store.ts";
import { createServerStore } from "../../../services/lifecycle/src/server/store.ts";
import { serverName } from "../anchors/servers.ts";
import { need, serveParent } from "../harness/parent.ts";
import { quantile } from "../harness/statistics.ts";

const rows = 10_000;
const log = createLogger("lifecycle", "warn");
const store = openStore<Tables>({ url: need("SVC_DATABASE_URL"), schema: "lifecycle", poolSize: 10, log });
const servers = createServerStore(store);
const isRunning = new Uint8Array(rows);

type Plan = { callers: number; seconds: number; isBatched: boolean };

/** Changes phases for some seconds; a server is worked on by one caller at a time, as lifecycle's queue sees to. */
async function change({ callers, seconds, isBatched }: Plan) {
  const latencies: number[] = [];
  const endAt = performance.now() + seconds * 1_000;
  const worker = async (from: number) => {
    for (let index = from; performance.now() < endAt; index = (index + callers) % (rows - (rows % callers))) {
      const [known, to] = isRunning[index]
        ? (["Running", "Stopped"] as const)
        : (["Stopped", "Running"] as const);
      const startedAt = performance.now();
      const at = new Date();
      const one = { name: serverName(index), known, to, reason: "RconReached", at } as const;
      const isDone = isBatched ? await servers.changePhase(one) : (await changePhases(store, [one]))[0];
      if (!isDone) throw new Error(`${serverName(index)} was not ${known}`);
      isRunning[index] = to === "Running" ? 1 : 0;
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => worker(caller)));
  return { perSecond: latencies.length / seconds, p50Ms: quantile(Float64Array.from(latencies).sort(), 0.5) };
}

serveParent({ change });
