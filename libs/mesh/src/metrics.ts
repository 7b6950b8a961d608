// Metrics of the mesh. Children with fixed labels are created once per contract: looking up labels costs more than counting.

import { Counter, Gauge, type Registry } from "@svc/telemetry";

type Outcome = string;

export type ContractMeter = { started: () => void; ended: (outcome: Outcome) => void };

export type MeshMetrics = {
  served: (subject: string) => ContractMeter;
  called: (subject: string) => ContractMeter;
  /** A request whose answer would not reach a caller of its contract. */
  foreignRequest: (subject: string) => void;
  /** A message in a stream that no service published there. */
  foreignMessage: (stream: string) => void;
  /** A handler answered a fault that its contract does not declare. */
  undeclaredFault: (subject: string, fault: string) => void;
  auditFailed: () => void;
  /** A consumer starts; what it counts begins at 0. */
  consumer: (durable: string) => void;
  deadLetter: (durable: string) => void;
  redelivery: (durable: string) => void;
};

const silentMeter: ContractMeter = { started: () => {}, ended: () => {} };

/** Registers the metrics in `registry`; counts nothing without one. */
export function createMeshMetrics(registry: Registry | undefined, reconnects: () => number): MeshMetrics {
  if (!registry) {
    return {
      served: () => silentMeter,
      called: () => silentMeter,
      foreignRequest: () => {},
      foreignMessage: () => {},
      undeclaredFault: () => {},
      auditFailed: () => {},
      consumer: () => {},
      deadLetter: () => {},
      redelivery: () => {},
    };
  }
  const registers = [registry];
  new Gauge({
    name: "svc_mesh_reconnects",
    help: "How often this process reconnected to NATS.",
    registers,
    collect() {
      this.set(reconnects());
    },
  });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter<L>({ name, help, labelNames, registers });
  const audit = counter("svc_audit_write_failures_total", "Audit entries that could not be published.", []);
  const dead = counter("svc_mesh_dead_letters_total", "Messages that a consumer gave up on.", ["durable"]);
  const later = counter("svc_mesh_redeliveries_total", "Messages returned for a later redelivery.", [
    "durable",
  ]);
  const foreignRequests = counter(
    "svc_mesh_refused_requests_total",
    "Requests that were not sent by a caller of their contract; not answered.",
    ["subject"],
  );
  const foreign = counter(
    "svc_mesh_foreign_messages_total",
    "Messages in a stream that no service published there; ignored.",
    ["stream"],
  );
  const undeclared = counter(
    "svc_undeclared_faults_total",
    "Answers with a fault that the contract of the operation does not declare.",
    ["operation", "fault"],
  );
  audit.inc(0);
  return {
    served: meterOf(registers, "served", "answered by this process"),
    called: meterOf(registers, "calls", "made by this process"),
    foreignRequest: (subject) => foreignRequests.inc({ subject }),
    foreignMessage: (stream) => foreign.inc({ stream }),
    undeclaredFault: (operation, fault) => undeclared.inc({ operation, fault }),
    auditFailed: () => audit.inc(),
    consumer: (durable) => {
      // Prometheus sees no increase in a series that begins at 1.
      dead.inc({ durable }, 0);
      later.inc({ durable }, 0);
    },
    deadLetter: (durable) => dead.inc({ durable }),
    redelivery: (durable) => later.inc({ durable }),
  };
}

function meterOf(registers: Registry[], noun: string, what: string): (subject: string) => ContractMeter {
  const requests = new Counter({
    name: `svc_mesh_${noun}_total`,
    help: `Requests ${what}, by outcome: ok or the name of the fault.`,
    labelNames: ["subject", "outcome"],
    registers,
  });
  const inFlight = new Gauge({
    name: `svc_mesh_${noun}_in_flight`,
    help: `Requests ${what} that have not ended.`,
    labelNames: ["subject"],
    registers,
  });
  const meters = new Map<string, ContractMeter>();
  return (subject) => {
    const known = meters.get(subject);
    if (known) return known;
    const gauge = inFlight.labels({ subject });
    const outcomes = new Map<Outcome, Counter.Internal>();
    const meter: ContractMeter = {
      started: () => gauge.inc(),
      ended: (outcome) => {
        gauge.dec();
        let child = outcomes.get(outcome);
        if (!child) {
          child = requests.labels({ subject, outcome });
          outcomes.set(outcome, child);
        }
        child.inc();
      },
    };
    meters.set(subject, meter);
    return meter;
  };
}
