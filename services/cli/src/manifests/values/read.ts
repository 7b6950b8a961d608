import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { callerDir } from "../../config.ts";
import { CommandError } from "../../output.ts";
import { Values } from "./schema.ts";

/** Values of a YAML file, or the defaults. Throws a `CommandError` that names every problem. */
export function readValues(file?: string): Values {
  const given: unknown = file === undefined ? {} : (parseFile(file) ?? {});
  const result = Values.safeParse(given);
  const problems = result.success
    ? contradictions(result.data)
    : result.error.issues.map(({ path, message }) => `${path.join(".") || "values"}: ${message}`);
  if (result.success && problems.length === 0) return result.data;
  throw new CommandError(`${file ?? "values"}: ${problems.join("; ")}`);
}

function parseFile(file: string): unknown {
  const text = readFileSync(resolve(callerDir, file), "utf8");
  try {
    return parse(text);
  } catch (error) {
    // The first line says what and where; the others repeat the text.
    const [problem = ""] = (error as Error).message.split(/:?\n/);
    throw new CommandError(`${file} is not YAML: ${problem}`);
  }
}

/** What no single value shows. */
function contradictions(values: Values): string[] {
  const { nats, postgres, volumes, smtp, proxy } = values;
  const found: [boolean, string][] = [
    [!nats.enabled && nats.host === "", "nats.host: name the NATS to use, or set nats.enabled"],
    [
      !postgres.enabled && postgres.host === "",
      "postgres.host: name the PostgreSQL to use, or set postgres.enabled",
    ],
    [volumes.kind === "nfs" && volumes.nfsServer === "", "volumes.nfsServer: name the server of the folders"],
    [smtp.host !== "" && !smtp.from.includes("@"), "smtp.from: name the sender of mails"],
    [proxy.serviceType === "ClusterIP", "proxy.serviceType: players do not reach a ClusterIP"],
  ];
  return found.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));
}
