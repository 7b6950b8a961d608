export { parseServiceArguments, type ServiceArguments } from "./command-line.ts";
export { ConfigError, checkOverrides, loadSettings } from "./load.ts";
export { duration, parseDuration, parseSize, section, size } from "./values.ts";
