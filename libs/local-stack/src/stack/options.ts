import type { Ports } from "../ports/ports.ts";
import type { ChildSpec } from "../supervisor/child.ts";

/** The seven services of svc in the order in which they are listed to people. */
export const serviceNames = [
  "identity",
  "lifecycle",
  "storage",
  "builds",
  "ops-watchdog",
  "gateway-internal",
  "gateway-external",
] as const;

export type StackService = (typeof serviceNames)[number];

/** What is settled before the services start: the configuration file and extra processes are made from it. */
export type StackFacts = {
  data: string;
  rootDomain: string;
  panelHost: string;
  adminHost: string;
  internalBaseUrl: string;
  externalBaseUrl: string;
  natsUrl: string;
  /** Superuser address of the database of svc. */
  databaseUrl: string;
  kubeconfig: string;
  archiveDir: string;
  tokensDir: string;
  smtp: { host: string; port: number };
  mailPage: string;
  game: { host: string; port: number };
  /** Where identity leaves the link for the first owner. */
  setupUrlFile: string;
  forwardingSecret: string | undefined;
  ports: Ports;
};

/** Programs of the stack; every path is absolute. */
export type StackPrograms = {
  service: (name: string) => string;
  /** File and arguments of the one-shot migration. */
  migrate: readonly string[];
  cluster: string;
};

export type StackOptions = {
  /** Absolute path of the data folder. */
  data: string;
  /** Root of the checkout. */
  repo: string;
  /** Environment of the person; SVC_DATABASE_URL, SVC_NATS_URL and SVC_KUBECONFIG in it replace the embedded parts. */
  env: NodeJS.ProcessEnv;
  ports: "fixed" | "auto";
  /** Only these services; all seven unless given. */
  only?: readonly string[];
  /** Processes by service; 1 unless given. */
  replicas?: Readonly<Record<string, number>>;
  /** `section.key=value` overrides for every service. */
  set?: readonly string[];
  /** Users and permissions as text of a NATS configuration, from the passwords by user. */
  natsConfig: (passwords: Readonly<Record<string, string>>) => string;
  /** Text of `svc.toml`. */
  configToml: (facts: StackFacts) => string;
  /**
   * The embedded cluster: its image table (a file, or the table itself, then written into the data folder) and the
   * service accounts as `namespace/name`; a service named like an account gets its kubeconfig.
   */
  cluster: { images: string | object; nodes?: number; serviceAccounts: readonly string[] };
  /** Sets a forwarding secret, which makes game servers refuse direct joins (architecture.md 6.17). */
  hasForwarding?: boolean;
  /** More processes to keep, for example the game proxy; they start after the services. */
  extra?: (facts: StackFacts, env: NodeJS.ProcessEnv) => readonly ChildSpec[];
  programs?: Partial<StackPrograms>;
  /** One line for the person, on stderr. */
  say: (line: string) => void;
  /** Lines on stdout once the stack is ready; nothing when missing. */
  announce?: (text: string) => void;
};
