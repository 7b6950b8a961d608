export { parseServiceArguments, type ServiceArguments } from "./command-line.ts";
export { hostProgramFlags, hostProgramMemory, runHostProgram } from "./host-program.ts";
export { ConfigError, checkOverrides, loadSettings } from "./load.ts";
export { offsiteSection } from "./offsite-section.ts";
export { duration, parseDuration, parsed, section, size } from "./values.ts";
export { flag, httpUrl, readVariables, text, wholeNumber } from "./variables.ts";
