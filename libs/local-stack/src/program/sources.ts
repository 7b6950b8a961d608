/** The seven services on the mesh in the order in which they are listed to people. */
export const serviceNames = [
  "identity",
  "lifecycle",
  "storage",
  "builds",
  "ops-watchdog",
  "gateway-internal",
  "gateway-external",
] as const;

/** The game side: they speak Minecraft to players and call the internal face like any other program. */
export const gameServiceNames = ["login-gate", "lobby", "proxy"] as const;

/** The gate of the image registry; with it the stack runs the registry. */
const registryServiceNames = ["registry-gate"] as const;

/** Runs only where somebody asks for it. */
const optionalServiceNames = ["sftp"] as const;

/** Everything that `--only` may name. */
export const allServiceNames = [
  ...serviceNames,
  ...gameServiceNames,
  ...registryServiceNames,
  ...optionalServiceNames,
] as const;

/** A service that the stack runs. */
export type StackService = (typeof allServiceNames)[number];

/** A Node program that the stack runs. `collect-when-idle` is preloaded into each of the others. */
export type ProgramName =
  | StackService
  | "local-cluster"
  | "mail-sink"
  | "svc"
  | "nats-users"
  | "publish-base-images"
  | "panel"
  | "world-agent"
  | "ops-watchdog-host"
  | "collect-when-idle";

const services = allServiceNames.map((name) => [name, `services/${name}/src/main.ts`]);

/** Source files of all programs by name, relative to the checkout. */
export const programSources: Readonly<Record<ProgramName, string>> = {
  ...(Object.fromEntries(services) as Record<StackService, string>),
  "local-cluster": "libs/local-cluster/src/main.ts",
  "mail-sink": "libs/local-stack/src/mail/main.ts",
  svc: "services/cli/src/main.ts",
  "nats-users": "services/cli/src/stack/nats-users.ts",
  "publish-base-images": "services/cli/src/stack/publish-base-images.ts",
  panel: "services/panel/build/main.ts",
  "world-agent": "services/world-agent/src/main.ts",
  // ops-watchdog starts it for each run of its watchdog (services/ops-watchdog/src/loop/run-program.ts).
  "ops-watchdog-host": "services/ops-watchdog/src/host/main.ts",
  "collect-when-idle": "libs/local-stack/src/process/collect-when-idle.ts",
};
