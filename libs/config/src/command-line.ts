import { parseArgs } from "node:util";
import { ConfigError } from "./load.ts";

export type ServiceArguments = {
  overrides: string[];
  file: string | undefined;
  help: boolean;
  version: boolean;
};

/** Arguments every service takes: `--config FILE`, `--set section.key=value` (repeatable), `--help`, `--version`. */
export function parseServiceArguments(argv: readonly string[]): ServiceArguments {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        config: { type: "string" },
        set: { type: "string", multiple: true },
        help: { type: "boolean" },
        version: { type: "boolean" },
      },
    });
    return {
      overrides: values.set ?? [],
      file: values.config,
      help: values.help ?? false,
      version: values.version ?? false,
    };
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
