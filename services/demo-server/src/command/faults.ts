import type { CommandTools, OwnCommand } from "./tools.ts";

/** What no server should do, for tests of those who watch it; only with DEMO_FAULTS=on. */
export function faultCommands({ log }: CommandTools): Record<string, OwnCommand> {
  return {
    crash: {
      usage: "crash <exit code> [line|line...]",
      info: "Prints lines and ends at once, without saving",
      run: (argument) => {
        const [, code = "", text = ""] = /^(\d{1,3})(?: (.*))?$/s.exec(argument) ?? [];
        if (code === "") return "Usage: /crash <exit code> [line|line...]";
        for (const line of text.split("|").filter(Boolean)) log.error(line);
        process.exit(Number(code));
      },
    },
    hang: {
      usage: "hang <seconds>",
      info: "Does nothing at all for a while: no ticks, no replies, no log",
      run: (argument) => {
        const seconds = Number(argument);
        if (!(seconds > 0 && seconds <= 3_600)) return "Usage: /hang <seconds>";
        const never = new Int32Array(new SharedArrayBuffer(4));
        Atomics.wait(never, 0, 0, seconds * 1_000);
        return "Went on";
      },
    },
  };
}
