import { sessionVerifier } from "@svc/proto";
import { Counter } from "@svc/telemetry";
import type { ServiceDeps } from "../service-deps.ts";
import { createHasJoined } from "./has-joined.ts";
import { createVerifier } from "./verify.ts";

export function serveSessionVerifier(deps: ServiceDeps): void {
  const { mesh, settings, log, registry } = deps;
  const registers = [registry];
  const answers = new Counter({
    name: "svc_has_joined_total",
    help: "hasJoined requests by answer: admitted, rejected, barred, failed.",
    labelNames: ["answer"],
    registers,
  });
  const outcomes = new Counter({
    name: "svc_session_source_total",
    help: "Answers of session servers by outcome: profile, not_mine, failed.",
    labelNames: ["source", "outcome"],
    registers,
  });
  const verify = createVerifier({
    settings,
    log,
    onOutcome: (source, outcome) => outcomes.inc({ source, outcome }),
  });
  mesh.serve(
    sessionVerifier.hasJoined,
    createHasJoined(deps, verify, (answer) => answers.inc({ answer })),
  );
}
