// Settings of the registry's gate (docs/reference/settings.md#registry-gate). A bad value stops the start.

import { join } from "node:path";
import { httpUrl, readVariables, text, wholeNumber } from "@svc/config";

export const settings = {
  /** Address that clients of the registry connect to. */
  SVC_REGISTRY_GATE_HOST: text("127.0.0.1"),
  /** Its port; 0 lets the system choose one. */
  SVC_REGISTRY_GATE_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 5_000 }),
  /** Port on loopback where garbage collection asks for its lease; 0 lets the system choose one. */
  SVC_REGISTRY_GATE_LEASE_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 5_002 }),
  /** The registry behind the gate. */
  SVC_REGISTRY_GATE_UPSTREAM: httpUrl().default("http://127.0.0.1:5001"),
  /** File of passwords, one `name:password` a line, read again when it changes; without it nobody may write. */
  SVC_REGISTRY_GATE_CREDENTIALS_FILE: text("/etc/svc/registry/credentials"),
  /** Folder of the lease, of the times of pushes, and of the time of the last collection. */
  SVC_REGISTRY_GATE_STATE_DIR: text("/var/lib/svc/registry-gate"),
  /** Seconds without a write before garbage is collected. */
  SVC_REGISTRY_GATE_QUIET_SECONDS: wholeNumber({ min: 0, max: 86_400, fallback: 120 }),
  /** Seconds for which a lease lasts unless it is renewed. */
  SVC_REGISTRY_GATE_LEASE_SECONDS: wholeNumber({ min: 1, max: 3_600, fallback: 60 }),
  /** Hours between two collections by this process; 0 = never, `registry-gate garbage-collect` does one. */
  SVC_REGISTRY_GATE_COLLECT_HOURS: wholeNumber({ min: 0, max: 720, fallback: 0 }),
  /** Seconds for which a collection waits for the pushes to pause. */
  SVC_REGISTRY_GATE_COLLECT_WAIT_SECONDS: wholeNumber({ min: 0, max: 86_400, fallback: 3_600 }),
  /** The registry's own program, whose `garbage-collect` is run. */
  SVC_REGISTRY_GATE_PROGRAM: text("docker-registry"),
  /** The registry's own configuration. */
  SVC_REGISTRY_GATE_PROGRAM_CONFIG: text("/etc/docker/registry/config.yml"),
  /** Seconds without a byte after which a transfer is given up. */
  SVC_REGISTRY_GATE_IDLE_SECONDS: wholeNumber({ min: 1, max: 3_600, fallback: 120 }),
};

export type GateConfig = {
  host: string;
  port: number;
  leasePort: number;
  upstream: string;
  credentialsFile: string;
  leaseFile: string;
  /** When manifests were pushed. */
  pushFile: string;
  quietMs: number;
  leaseMs: number;
  idleMs: number;
  collect: CollectConfig;
};

type CollectConfig = {
  /** 0 = never. */
  everyMs: number;
  waitMs: number;
  program: string;
  programConfig: string;
  /** Its time of change is that of the last collection. */
  doneFile: string;
};

export function loadConfig(variables: Readonly<Record<string, string | undefined>>): GateConfig {
  const values = readVariables(settings, (name) => variables[name]);
  const stateDir = values.SVC_REGISTRY_GATE_STATE_DIR;
  return {
    host: values.SVC_REGISTRY_GATE_HOST,
    port: values.SVC_REGISTRY_GATE_PORT,
    leasePort: values.SVC_REGISTRY_GATE_LEASE_PORT,
    upstream: values.SVC_REGISTRY_GATE_UPSTREAM,
    credentialsFile: values.SVC_REGISTRY_GATE_CREDENTIALS_FILE,
    leaseFile: join(stateDir, "lease.json"),
    pushFile: join(stateDir, "pushes.jsonl"),
    quietMs: values.SVC_REGISTRY_GATE_QUIET_SECONDS * 1_000,
    leaseMs: values.SVC_REGISTRY_GATE_LEASE_SECONDS * 1_000,
    idleMs: values.SVC_REGISTRY_GATE_IDLE_SECONDS * 1_000,
    collect: {
      everyMs: values.SVC_REGISTRY_GATE_COLLECT_HOURS * 3_600_000,
      waitMs: values.SVC_REGISTRY_GATE_COLLECT_WAIT_SECONDS * 1_000,
      program: values.SVC_REGISTRY_GATE_PROGRAM,
      programConfig: values.SVC_REGISTRY_GATE_PROGRAM_CONFIG,
      doneFile: join(stateDir, "collected"),
    },
  };
}
