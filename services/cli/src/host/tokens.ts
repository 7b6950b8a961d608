import { rotateToken } from "@svc/local-stack";
import { CommandError, type Outcome } from "../output.ts";

const callers = ["velocity", "limbo", "build", "ops"] as const;

/** Gives a caller of the internal face a new token; the old one stops working within a second. */
export async function rotate(caller: string, options: { data: string; yes?: boolean }): Promise<Outcome> {
  const known = callers.find((name) => name === caller);
  if (!known) throw new CommandError(`there is no caller ${caller}; it is one of ${callers.join(", ")}`);
  if (!options.yes) {
    const planned = `give ${known} a new token; whoever holds the old one is refused within a second`;
    return {
      json: { planned, done: false },
      text: `Plan: ${planned}\nNothing was done; add --yes to do it.`,
    };
  }
  rotateToken(options.data, known);
  return {
    json: { rotated: known },
    text: `${known} has a new token: ${options.data}/tokens/${known}. Programs that read that file take it by themselves.`,
  };
}
