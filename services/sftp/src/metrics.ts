import { Counter, Gauge, type Registry } from "@svc/telemetry";
import type { Outcome } from "./files/session.ts";
import type { Kind } from "./protocol/requests.ts";

const signInOutcomes = ["ok", "refused", "no_access", "limited", "failed"] as const;

export type Metrics = {
  signIn: (outcome: (typeof signInOutcomes)[number]) => void;
  operation: (kind: Kind, outcome: Outcome) => void;
};

export function createMetrics(
  registry: Registry,
  { sessions, spooled, spoolBytes }: { sessions: () => number; spooled: () => number; spoolBytes: number },
): Metrics {
  const registers = [registry];
  const signIns = new Counter({
    name: "svc_sftp_sign_ins_total",
    help: "Signatures of clients of SFTP, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const operations = new Counter({
    name: "svc_sftp_operations_total",
    help: "Requests of clients of SFTP, by operation and outcome.",
    labelNames: ["operation", "outcome"],
    registers,
  });
  new Gauge({
    name: "svc_sftp_sessions",
    help: "Connections of SFTP that are signed in.",
    registers,
    collect() {
      this.set(sessions());
    },
  });
  new Gauge({
    name: "svc_sftp_spool_bytes",
    help: "Bytes of transfers of SFTP on disk.",
    registers,
    collect() {
      this.set(spooled());
    },
  });
  new Gauge({
    name: "svc_sftp_spool_limit_bytes",
    help: "Bytes of transfers of SFTP that may lie on disk.",
    registers,
  }).set(spoolBytes);
  for (const outcome of signInOutcomes) signIns.inc({ outcome }, 0);
  return {
    signIn: (outcome) => signIns.inc({ outcome }),
    operation: (operation, outcome) => operations.inc({ operation, outcome }),
  };
}
