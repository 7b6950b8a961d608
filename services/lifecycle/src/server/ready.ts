import type { Handler } from "@svc/mesh";
import type { contracts, ServerDeps } from "./deps.ts";

// Below the contract's own deadline, so that the answer names what is missing.
const timeoutMs = 2_500;

export const ready =
  (deps: ServerDeps): Handler<typeof contracts.ready> =>
  async (context) => {
    const [database, cluster] = await Promise.all([
      answers(() => deps.store.ping()),
      answers(() => deps.kube.version({ timeoutMs })),
    ]);
    if (!database) throw context.fault("not_ready", { message: "The database is not ready." });
    if (!cluster || !deps.servers.isReady()) {
      throw context.fault("not_ready", { message: "The cluster is not ready." });
    }
    return { status: "ready" };
  };

async function answers(ask: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const answer = ask().then(
    () => true,
    () => false,
  );
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
