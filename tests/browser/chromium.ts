// A Chromium of its own, driven over the DevTools protocol with Node's own WebSocket. Its profile lies in a temporary
// folder, and nothing but this machine is reachable from it.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const startMs = 30_000;
const answerMs = 30_000;

type Params = Record<string, unknown>;
type Event = { method: string; params: Params; sessionId?: string };

export type Authenticator = {
  /** Whether the person in front of it can be verified, as with a fingerprint. */
  setVerifies: (verifies: boolean) => Promise<void>;
  /** What lies in it. */
  credentials: () => Promise<{ credentialId: string; userHandle?: string; signCount: number }[]>;
};

export type Page = {
  /** Opens a page of an origin that the test itself serves; every other address goes to the network. */
  open: (origin: string) => Promise<void>;
  /** Evaluates `body` as an async function of `argument` in the page and returns its JSON. */
  run: <T>(body: string, argument?: unknown) => Promise<T>;
  /** Plugs a platform authenticator in that touches itself. */
  plugIn: () => Promise<Authenticator>;
};

export type Chromium = {
  /** A page with cookies of its own. */
  newPage: () => Promise<Page>;
  stop: () => Promise<void>;
};

/** Starts the browser. Rejects with what it said when it does not come up. */
export async function startChromium(binary: string): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), "svc-chromium-"));
  const child = spawn(binary, [...flags, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: profile },
  });
  try {
    const wire = await openWire(await endpointOf(child));
    return {
      newPage: () => newPage(wire),
      stop: async () => {
        wire.close();
        await end(child);
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    await end(child);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

const flags = [
  "--headless=new",
  "--no-sandbox",
  "--no-first-run",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-proxy-server",
  "--remote-debugging-port=0",
];

function endpointOf(child: ChildProcess): Promise<string> {
  return new Promise((settle, fail) => {
    let said = "";
    const give = (why: string) => fail(new Error(`chromium ${why}: ${said.slice(-2_000)}`));
    const timer = setTimeout(() => give(`said nothing of DevTools in ${startMs / 1_000} s`), startMs);
    child.on("error", fail);
    child.on("exit", (code) => give(`ended with ${code}`));
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk;
      const endpoint = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (endpoint === undefined) return;
      clearTimeout(timer);
      settle(endpoint);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((settle) => child.once("exit", () => settle()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
}

type Wire = {
  ask: (method: string, params?: Params, sessionId?: string) => Promise<Params>;
  /** Hears every event of one target. */
  listen: (sessionId: string, hear: (event: Event) => void) => void;
  close: () => void;
};

async function openWire(endpoint: string): Promise<Wire> {
  const socket = new WebSocket(endpoint);
  await new Promise<void>((settle, fail) => {
    socket.onopen = () => settle();
    socket.onerror = () => fail(new Error(`${endpoint} cannot be reached`));
  });
  const waiting = new Map<number, (message: Params) => void>();
  const hearers = new Map<string, (event: Event) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Params & Partial<Event> & { id?: number };
    if (message.id !== undefined) return waiting.get(message.id)?.(message);
    if (message.method && message.sessionId) hearers.get(message.sessionId)?.(message as Event);
  };
  const ask: Wire["ask"] = (method, params = {}, sessionId) =>
    new Promise((settle, fail) => {
      const id = ++last;
      const timer = setTimeout(() => fail(new Error(`${method} took over ${answerMs} ms`)), answerMs);
      waiting.set(id, (message) => {
        clearTimeout(timer);
        waiting.delete(id);
        const refusal = message["error"] as { message: string } | undefined;
        if (refusal) fail(new Error(`${method}: ${refusal.message}`));
        else settle(message["result"] as Params);
      });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    });
  return { ask, listen: (sessionId, hear) => hearers.set(sessionId, hear), close: () => socket.close() };
}

async function newPage(wire: Wire): Promise<Page> {
  const { browserContextId } = await wire.ask("Target.createBrowserContext");
  const { targetId } = await wire.ask("Target.createTarget", { url: "about:blank", browserContextId });
  const attached = await wire.ask("Target.attachToTarget", { targetId, flatten: true });
  const session = String(attached["sessionId"]);
  const ask = (method: string, params?: Params) => wire.ask(method, params, session);
  const loads = new Set<() => void>();
  wire.listen(session, ({ method, params }) => {
    if (method === "Page.loadEventFired") for (const loaded of loads) loaded();
    if (method === "Fetch.requestPaused") void ask("Fetch.fulfillRequest", emptyPage(params)).catch(() => {});
  });
  await ask("Page.enable");
  await ask("Fetch.enable", { patterns: [{ urlPattern: `*${path}` }] });
  return {
    open: async (origin) => {
      const loaded = new Promise<void>((settle) => loads.add(settle));
      const { errorText } = await ask("Page.navigate", { url: `${origin}${path}` });
      if (errorText) throw new Error(`${origin}: ${String(errorText)}`);
      await loaded;
      loads.clear();
    },
    run: (body, argument = null) => run(ask, body, argument),
    plugIn: () => plugIn(ask),
  };
}

const path = "/svc-browser-lane";

function emptyPage({ requestId }: Params): Params {
  const body = Buffer.from("<!doctype html><title>lane</title>").toString("base64");
  const responseHeaders = [{ name: "content-type", value: "text/html" }];
  return { requestId, responseCode: 200, responseHeaders, body };
}

type Ask = (method: string, params?: Params) => Promise<Params>;

async function run<T>(ask: Ask, body: string, argument: unknown): Promise<T> {
  const answer = await ask("Runtime.evaluate", {
    expression: `(async (argument) => { ${body} })(${JSON.stringify(argument)})`,
    awaitPromise: true,
    returnByValue: true,
    userGesture: true,
  });
  const thrown = answer["exceptionDetails"] as { exception?: { description?: string } } | undefined;
  if (thrown) throw new Error(thrown.exception?.description ?? "the page threw");
  return (answer["result"] as { value: T }).value;
}

async function plugIn(ask: Ask): Promise<Authenticator> {
  await ask("WebAuthn.enable");
  const { authenticatorId } = await ask("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setVerifies: async (isUserVerified) => {
      await ask("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    credentials: async () => {
      const { credentials } = await ask("WebAuthn.getCredentials", { authenticatorId });
      return credentials as Awaited<ReturnType<Authenticator["credentials"]>>;
    },
  };
}
