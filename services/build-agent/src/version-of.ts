import { execFile } from "node:child_process";
import { promisify } from "node:util";

const answerMs = 10_000;
const answerBytes = 64 << 10;
const longestVersion = 100;

/** The first version that a program prints of itself, `unknown` when it prints none. */
export async function versionOf(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { env, timeout: answerMs, maxBuffer: answerBytes };
  const printed = await promisify(execFile)(command, args, options).catch(() => undefined);
  const words = (printed?.stdout ?? "").split(/[\s,()]/);
  return words.find((word) => /^\d+\.\d/.test(word))?.slice(0, longestVersion) ?? "unknown";
}
