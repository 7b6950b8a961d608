import { type FindOptions, findProgram } from "../fetch/find.ts";
import { dockerRegistry } from "./program.ts";

/** Path of a docker-registry 2.8 or later. */
export function findDockerRegistry(options: FindOptions): Promise<string> {
  return findProgram(dockerRegistry, options);
}
