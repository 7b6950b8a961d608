import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { Container, ProbeHandler } from "../controllers/objects.ts";
import { killGroup } from "./processes.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { request } = process.getBuiltinModule("node:http");

/** How a command is run for a container: same directory, same environment. */
export type ExecTarget = { argv: string[]; env: Record<string, string>; cwd: string };

export type ProbeTarget = {
  podIP: string;
  container: Container;
  /** Where a command of the container runs. */
  exec(command: string[]): ExecTarget;
};

/** Undefined on success; else the error message. */
type ProbeResult = string | undefined;

/** The number of a port that is given by number or name. */
function portNumber(container: Container, port: number | string): number {
  if (typeof port === "number") return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  return named ?? Number(port);
}

function checkTcp(host: string, port: number, timeoutMs: number): Promise<ProbeResult> {
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const socket = connect({ host, port, timeout: timeoutMs });
  const end = (result: ProbeResult) => {
    socket.destroy();
    resolve(result);
  };
  socket.once("connect", () => end(undefined));
  socket.once("timeout", () => end(`dial tcp ${host}:${port}: i/o timeout`));
  socket.once("error", (error) => end(`dial tcp ${host}:${port}: ${error.message}`));
  return promise;
}

type HttpGet = NonNullable<ProbeHandler["httpGet"]>;

function checkHttp(
  target: { host: string; port: number },
  get: HttpGet,
  timeoutMs: number,
): Promise<ProbeResult> {
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const headers = Object.fromEntries((get.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const signal = AbortSignal.timeout(timeoutMs);
  const call = request({ ...target, path: get.path ?? "/", headers, agent: false, signal });
  call.once("response", (response) => {
    const status = response.statusCode ?? 0;
    response.destroy();
    const good = status >= 200 && status < 400;
    resolve(good ? undefined : `HTTP probe failed with statuscode: ${status}`);
  });
  call.on("error", (error) =>
    resolve(`Get "http://${target.host}:${target.port}${get.path ?? "/"}": ${error.message}`),
  );
  call.end();
  return promise;
}

/** Runs a command to its end or its deadline; none of its processes is left. */
function runCommand({ argv, env, cwd }: ExecTarget, timeoutMs: number): Promise<ProbeResult> {
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const [program = "/bin/false", ...args] = argv;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    if (output.length < 1024) output += chunk.toString("utf8").slice(0, 1024);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const end = (result: ProbeResult) => {
    clearTimeout(timer);
    if (child.pid !== undefined) void killGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
    resolve(result);
  };
  const timer = setTimeout(() => end(`command timed out after ${timeoutMs} ms`), timeoutMs);
  child.once("error", (error) => end(error.message));
  child.once("exit", (code) => end(code === 0 ? undefined : output.trim() || `exit code ${code}`));
  return promise;
}

/** Probes once; never throws. An unknown kind of handler counts as a success, and so does an empty probe. */
export async function check(
  target: ProbeTarget,
  handler: ProbeHandler,
  timeoutMs: number,
): Promise<ProbeResult> {
  try {
    return await ask(target, handler, timeoutMs);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function ask(target: ProbeTarget, handler: ProbeHandler, timeoutMs: number): Promise<ProbeResult> {
  const { container, podIP } = target;
  if (handler.tcpSocket !== undefined) {
    const { host, port } = handler.tcpSocket;
    return checkTcp(host || podIP, portNumber(container, port), timeoutMs);
  }
  if (handler.httpGet !== undefined) {
    const { host, port } = handler.httpGet;
    const address = { host: host || podIP, port: portNumber(container, port) };
    return checkHttp(address, handler.httpGet, timeoutMs);
  }
  const command = handler.exec?.command;
  return command === undefined ? undefined : runCommand(target.exec(command), timeoutMs);
}
