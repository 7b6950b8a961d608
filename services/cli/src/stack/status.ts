import { joinAsOperator } from "../operator-mesh.ts";
import { type Outcome, table } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { isRunning } from "./doctor.ts";

const answerWithinMs = 2_000;

/** The processes of the stack, and the services that answer on the mesh. */
export async function status(options: { data: string }): Promise<Outcome> {
  const stack = readStackFile(options.data);
  const mesh = await joinAsOperator(options.data);
  const services = await mesh.discover(answerWithinMs).finally(() => mesh.drain(1_000));
  const processes = stack.processes.map((process) => ({ ...process, alive: isRunning(process.pid) }));
  const processRows = processes.map(({ name, pid, alive, log }) => [
    name,
    String(pid),
    alive ? "running" : "gone",
    log,
  ]);
  const serviceRows = services.map(({ name, version, endpoints, requests, errors, started }) => [
    name,
    version,
    String(endpoints),
    String(requests),
    String(errors),
    started,
  ]);
  return {
    json: { processes, services },
    text: [
      table([["PROCESS", "PID", "STATE", "LOG"], ...processRows]),
      table([["SERVICE", "VERSION", "ENDPOINTS", "REQUESTS", "ERRORS", "STARTED"], ...serviceRows]),
    ].join("\n\n"),
  };
}
