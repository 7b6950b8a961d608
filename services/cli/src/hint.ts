import { commandHint } from "@svc/local-stack";
import { builtInDataDir } from "./config.ts";

/** The data folder if a pasted command must name it; undefined for the one in the checkout. */
export function hintData(data: string): string | undefined {
  return data === builtInDataDir ? undefined : data;
}

/** `npm run svc -- account login --data /srv/svc`: a command that people can paste. */
export function hint(data: string, words: string): string {
  return commandHint("svc", words, hintData(data));
}

/** The same for `npm run up` and `npm run down`. */
export function stackHint(script: "up" | "down", data: string): string {
  return commandHint(script, "", hintData(data));
}

/** Replaces commands such as `svc status` in backticks by complete ones that can be pasted. */
export function withHints(data: string, text: string): string {
  return text.replace(/`svc ([^`]{1,200})`/g, (_, words: string) => hint(data, words));
}
