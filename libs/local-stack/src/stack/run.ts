import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { explainDiskFault } from "../error.ts";
import { bundleSpec, findPrograms, type StackPrograms } from "../program/programs.ts";
import { openRegistry, type Registry } from "../supervisor/registry.ts";
import { createSupervisor, type RunningProcess, type Supervisor } from "../supervisor/supervisor.ts";
import { createContext, type StackContext } from "./context.ts";
import { embeddedSpecs } from "./embedded.ts";
import { embeddedParts } from "./embedded-parts.ts";
import { endContainers } from "./end-containers.ts";
import { takesLocalNames, writeForwardingFiles } from "./game.ts";
import { checkPlatform, chooseServices, prepareDataDir } from "./guard.ts";
import { commandHint } from "./hint.ts";
import { type Layout, layout } from "./layout.ts";
import { findSupervisor, takeLock, writeSupervisor } from "./lock.ts";
import { nameHint } from "./name-hint.ts";
import type { StackOptions } from "./options.ts";
import { startRegistry } from "./registry.ts";
import { ensureTokens } from "./secrets.ts";
import { migrateSpec, panelSpec, serviceSpecs } from "./services.ts";
import { announcement, findStackFile, type StackFile, writeStackFile } from "./stack-file.ts";

type StackOutcome = "stopped" | "already-running";

const setupUrlWaitMs = 5_000;
const setupUrlPollMs = 50;
const setupUrlWatchMs = 1_000;
/** With the 25 s of the supervisor this is less than `down` waits. */
const containersWithinMs = 2_000;
const localNamesWarning =
  "NOTE: player names are not verified on this machine; SVC_PROXY_LOCAL_NAMES=false requires genuine accounts";

/** `received` resolves at the first SIGTERM, SIGINT or SIGHUP; `release` removes the handlers. */
function awaitEndSignal(): { received: Promise<NodeJS.Signals>; release: () => void } {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  const { promise: received, resolve } = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of signals) process.on(signal, resolve);
  return {
    received,
    release: () => {
      for (const signal of signals) process.off(signal, resolve);
    },
  };
}

/** On the first start identity creates the setup link of the first owner shortly after it is ready. */
async function waitForSetupUrl(paths: Layout): Promise<void> {
  const end = Date.now() + setupUrlWaitMs;
  while (findSetupUrl(paths) === undefined && Date.now() < end) await sleep(setupUrlPollMs);
}

/** Polls the file of the setup link: identity removes it when the link is used, and may write a new one. */
function watchSetupUrl(paths: Layout, onChange: () => void): () => void {
  let last = findSetupUrl(paths);
  const timer = setInterval(() => {
    const now = findSetupUrl(paths);
    if (now === last) return;
    last = now;
    onChange();
  }, setupUrlWatchMs);
  return () => clearInterval(timer);
}

function findSetupUrl(paths: Layout): string | undefined {
  return findText(paths.setupUrlFile)?.trim() || undefined;
}

/** Rereads the setup link and the tokens each time: both change while the stack runs. */
function describe(
  context: StackContext,
  processes: RunningProcess[],
  { hasRegistry }: { hasRegistry: boolean },
): StackFile {
  const { facts, paths } = context;
  const setupUrl = findSetupUrl(paths);
  return {
    internal_base_url: facts.internalBaseUrl,
    external_base_url: facts.externalBaseUrl,
    root_domain: facts.rootDomain,
    panel_host: facts.panelHost,
    admin_host: facts.adminHost,
    ...(setupUrl !== undefined && { setup_url: setupUrl }),
    tokens: ensureTokens(paths),
    nats_url: facts.natsUrl,
    database_url: facts.databaseUrl,
    kubeconfig: facts.kubeconfig,
    archive_dir: facts.archiveDir,
    mail: { smtp_url: `smtp://${facts.smtp.host}:${facts.smtp.port}`, dir: paths.mail, page: facts.mailPage },
    game: facts.game,
    ...(facts.sftp && { sftp: facts.sftp }),
    ...(facts.forwardingSecret !== undefined && { forwarding_secret: facts.forwardingSecret }),
    ...(hasRegistry &&
      facts.registryHost !== undefined && {
        registry: { host: facts.registryHost, credentials_file: paths.registryCredentials },
      }),
    processes,
  };
}

/** The programs to run; bundles those of the checkout when a source has changed since the last time. */
function choosePrograms({ options, nodeEnv }: StackContext, supervisor: Supervisor): Promise<StackPrograms> {
  const { programs, repo } = options;
  if (programs) return Promise.resolve(programs);
  return findPrograms(repo, () => supervisor.start([bundleSpec(repo, nodeEnv)]));
}

async function startAll(context: StackContext, supervisor: Supervisor): Promise<{ hasRegistry: boolean }> {
  const { options, paths, facts } = context;
  mkdirSync(paths.archive, { recursive: true, mode: 0o700 });
  if (context.services.has("proxy") && takesLocalNames(options.env)) options.say(localNamesWarning);
  writeFileAtomic(paths.configFile, options.configToml(facts));
  writeForwardingFiles(context);
  const programs = choosePrograms(context, supervisor);
  const startPanel = async () => {
    if (context.services.has("gateway-external"))
      await supervisor.start([panelSpec(context, await programs)]);
  };
  const startMigrated = async () => {
    const parts = embeddedParts(options.env);
    const started = await Promise.all(
      parts.map(async (part) => {
        const specs = await embeddedSpecs(part, context, programs);
        await supervisor.start(specs);
        return specs.map(({ name }) => name);
      }),
    );
    const after = started.flat();
    await supervisor.start([{ ...migrateSpec(context, await programs), after }]);
    return after;
  };
  const failed = new AbortController();
  const registry = startRegistry(context, { supervisor, programs, signal: failed.signal });
  // Awaited last; a failure before that is reported there.
  registry.catch(() => undefined);
  try {
    const [after] = await Promise.all([startMigrated(), startPanel()]);
    const services = serviceSpecs(context, await programs);
    for (const { name } of services.filter((spec) => spec.name.startsWith("proxy")))
      mkdirSync(join(paths.proxy, name), { recursive: true, mode: 0o700 });
    if (facts.sftp) mkdirSync(paths.sftp, { recursive: true, mode: 0o700 });
    await supervisor.start(services.map((spec) => ({ ...spec, after })));
  } catch (error) {
    failed.abort();
    throw error;
  }
  return { hasRegistry: await registry };
}

async function supervise(options: StackOptions, paths: Layout, registry: Registry): Promise<void> {
  const { received, release } = awaitEndSignal();
  let publish: () => void = () => undefined;
  let endWatch: () => void = () => undefined;
  const supervisor = createSupervisor({
    registry,
    logDir: paths.logs,
    say: options.say,
    onChange: () => publish(),
  });
  try {
    const context = await createContext(options);
    const isFirstStart = findText(paths.configFile) === undefined;
    if (context.services.has("proxy")) {
      void nameHint(context.facts).then((hint) => hint && options.say(hint));
    }
    const started = startAll(context, supervisor);
    const early = await Promise.race([started, received]);
    if (typeof early !== "string") {
      const describeNow = () => describe(context, supervisor.running(), early);
      if (isFirstStart && context.services.has("identity")) await waitForSetupUrl(paths);
      publish = () => writeStackFile(paths.stackFile, describeNow());
      endWatch = watchSetupUrl(paths, publish);
      publish();
      options.announce?.(announcement(describeNow(), paths.stackFile, options.hintData));
      await received;
    } else started.catch(() => undefined);
    options.say("stopping ...");
  } finally {
    endWatch();
    publish = () => undefined;
    rmSync(paths.stackFile, { force: true });
    await supervisor.stop();
    // After a cluster that had to be killed.
    await endContainers(paths, containersWithinMs);
    release();
  }
}

/**
 * Runs the embedded stack until SIGTERM or SIGINT (docs/reference/local-stack.md#parts): PostgreSQL, NATS, the local cluster and the
 * mail sink side by side, then the migrations, then the services. `stack.json` exists exactly while all of it is
 * ready. Throws a `StackError` whose message says what to do.
 */
export async function runStack(options: StackOptions): Promise<StackOutcome> {
  checkPlatform();
  // Reject wrong options before the folder is created.
  chooseServices(options);
  prepareDataDir(options.data);
  const paths = layout(options.data);
  const unlock = await takeLock(options.data);
  if (!unlock) {
    const stack = findStackFile(paths.stackFile);
    const pid = findSupervisor(paths.supervisorFile)?.pid;
    const stop = commandHint("down", "", options.hintData);
    options.say(
      `a stack is already running on ${options.data}${pid ? ` (pid ${pid})` : ""}; ${stop} stops it`,
    );
    if (stack) options.announce?.(announcement(stack, paths.stackFile, options.hintData));
    return "already-running";
  }
  try {
    // In this order: who waits for this supervisor takes the file of a killed one before it for the word that all is ready.
    rmSync(paths.stackFile, { force: true });
    writeSupervisor(paths.supervisorFile);
    const registry = openRegistry(paths.run);
    const orphans = await registry.clear();
    if (orphans.length > 0) options.say(`stopped processes of an earlier run: ${orphans.join(", ")}`);
    await supervise(options, paths, registry);
    return "stopped";
  } catch (error) {
    throw explainDiskFault(error, options.data);
  } finally {
    rmSync(paths.supervisorFile, { force: true });
    await unlock();
  }
}
