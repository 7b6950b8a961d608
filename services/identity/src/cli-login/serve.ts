import { cliLogins } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createDecide, createRead } from "./decide.ts";
import { createFinish } from "./finish.ts";
import { createStart } from "./start.ts";

export function serveCliLogins(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(cliLogins.start, createStart(deps));
  mesh.serve(cliLogins.read, createRead(deps));
  mesh.serve(cliLogins.decide, createDecide(deps));
  mesh.serve(cliLogins.finish, createFinish(deps));
}
