import { attacks } from "./attack.ts";
import { parse } from "./parse.ts";
import { stepsOf } from "./steps.ts";

/** How many characters at least, and how often what comes again. */
const large = { chars: 400, times: 100 };
const small = { chars: 100, times: 25 };
/** Fewer steps for each character are nothing to look at: an expression has some parts that are tried at each. */
const quiet = 25;
/** Four times the text are four times the steps; sixteen when they grow with its square. */
const mostGrowth = 7;
const most = 200_000;

/** The text for which the steps grow faster than it does, or undefined. */
export function findGrowth(expression: RegExp): { text: string; growth: number } | undefined {
  const node = parse(expression);
  const options = { isMultiline: expression.multiline, most };
  for (const attack of attacks(node)) {
    const text = attack(large);
    const steps = stepsOf(node, text, options);
    if (steps <= quiet * text.length) continue;
    const growth = steps === most ? Number.POSITIVE_INFINITY : steps / stepsOf(node, attack(small), options);
    if (growth > mostGrowth) return { text, growth };
  }
  return undefined;
}
