import { AsyncLocalStorage } from "node:async_hooks";
import { createProgram } from "../main.ts";
import { fail } from "../program.ts";

type Ran = { code: number; out: string; error: string };

const running = new AsyncLocalStorage<Ran>();

/** Runs one command in this process, as `svc` with these arguments would, and keeps what it prints. */
export async function runCommand(args: readonly string[]): Promise<Ran> {
  const ran = { code: 0, out: "", error: "" };
  const { exitCode, stdout, stderr } = process;
  const [out, error] = [stdout.write, stderr.write];
  stdout.write = collector("out", out.bind(stdout));
  stderr.write = collector("error", error.bind(stderr));
  process.exitCode = undefined;
  try {
    await running.run(ran, () => createProgram().parseAsync(args, { from: "user" }).catch(fail));
    ran.code = Number(process.exitCode ?? 0);
  } finally {
    stdout.write = out;
    stderr.write = error;
    process.exitCode = exitCode;
  }
  return ran;
}

/** The reporter of the tests may write meanwhile: only what the command prints is kept. */
function collector(key: "out" | "error", write: (text: string | Uint8Array) => boolean) {
  return (text: string | Uint8Array) => {
    const ran = running.getStore();
    if (!ran) return write(text);
    ran[key] += String(text);
    return true;
  };
}
