import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPrompt } from "./prompt.ts";

export type Way = "host" | "email" | "operator" | "browser";
type Given = { with?: Way; browser?: boolean; email?: string };
type Asking = { isTerminal: boolean; hasPanel: boolean };

/** The way that the options name; `ask` where they name none and there is somebody to ask. */
export function decideWay(given: Given, { isTerminal, hasPanel }: Asking): Way | "ask" {
  if (given.browser) return "browser";
  if (given.with !== undefined) return given.with;
  if (given.email !== undefined) return "email";
  return isTerminal && hasPanel ? "ask" : "host";
}

/** What an answer to the question means; Enter takes the first one. */
export function parseChoice(answer: string): Way | undefined {
  if (answer === "") return "host";
  return choices.get(answer);
}

const choices = new Map<string, Way>([
  ["1", "host"],
  ["2", "browser"],
  ["3", "email"],
]);
const question = `How do you want to sign in?
  1  as the owner of this stack, by its data folder
  2  through the browser, with a passkey or as you sign in there
  3  with a code by e-mail
Your choice (1): `;

/** Asks a person at a terminal for the way and, for a mailed code, for the address. */
export async function chooseWay(): Promise<{ way: Way; email?: string }> {
  const prompt = openPrompt("no way to sign in was chosen; pass --with");
  try {
    for (;;) {
      const way = parseChoice(await prompt.ask(question));
      if (way === "email") return { way, email: await prompt.ask("Your e-mail address: ") };
      if (way !== undefined) return { way };
    }
  } finally {
    prompt.close();
  }
}

/** Whether the stack serves the panel. */
export function hasPanel(data: string): boolean {
  return existsSync(join(data, "panel"));
}
