import { type FindOptions, findProgram } from "../fetch/find.ts";
import { natsServer } from "./program.ts";

/** Path of a nats-server that `isSupportedNats`. */
export function findNatsServer(options: FindOptions): Promise<string> {
  return findProgram(natsServer, options);
}
