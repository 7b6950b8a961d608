// Why a test failed, in one line.

const longest = 240;
const stackFrame = /^\s+at .*$/gm;
const errorLine = /^\s*(?:Uncaught |\[cause\]: )?\w*Error(?: \[\w+\])?: /gm;

/** Its message without line breaks. Of a long one, such as what a program printed, what comes from its last error on. */
export function shortReason(message: string): string {
  const short = joined(message);
  if (short.length <= longest) return short;
  const last = [...message.matchAll(errorLine)].at(-1);
  return joined(message.slice(last?.index ?? 0).replace(stackFrame, "")).slice(0, longest);
}

const joined = (text: string) => text.trim().replace(/\s+/g, " ");
