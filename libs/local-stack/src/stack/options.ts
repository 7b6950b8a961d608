import type { Ports } from "../ports/ports.ts";
import type { StackPrograms } from "../program/programs.ts";

/** What is known before the services start; the configuration file is generated from it. */
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
  /** Link to the built panel. */
  panelDir: string;
  tokensDir: string;
  smtp: { host: string; port: number };
  mailPage: string;
  game: { host: string; port: number };
  /** Where SFTP is reached; undefined when the stack runs none. */
  sftp: { host: string; port: number } | undefined;
  /** Of the registry of images as references write it; undefined when the stack runs none. */
  registryHost: string | undefined;
  /** Where identity writes the setup link for the first owner. */
  setupUrlFile: string;
  /**
   * The master of all forwarding secrets, set where the proxy runs: then game servers refuse direct joins
   * (docs/reference/server-resource.md#forwarding). No server ever sees it.
   */
  forwardingSecret: string | undefined;
  /** Its file, for the proxy and lifecycle. */
  forwardingMasterFile: string | undefined;
  ports: Ports;
};

export type StackOptions = {
  /** Absolute path of the data folder. */
  data: string;
  /** The data folder as printed in suggested commands; absent for the default one. */
  hintData?: string;
  /** Root of the checkout. */
  repo: string;
  /** The user's environment; SVC_DATABASE_URL, SVC_NATS_URL and SVC_KUBECONFIG in it replace the embedded parts. */
  env: NodeJS.ProcessEnv;
  ports: "fixed" | "auto";
  /** Only these services; all by default. */
  only?: readonly string[];
  /** Also SFTP, which otherwise runs only where `only` names it. */
  sftp?: boolean;
  /** Processes by service, and servers of `nats`, which are 1 or 3; 1 by default. */
  replicas?: Readonly<Record<string, number>>;
  /** `section.key=value` overrides for every service. */
  set?: readonly string[];
  /** Users and permissions as text of a NATS configuration, from the passwords by user. */
  natsConfig: (
    passwords: Readonly<Record<string, string>>,
    programs: Promise<StackPrograms>,
  ) => Promise<string>;
  /** What gate and lobby accept, by service, from the text of the masters' file. */
  forwardingSecrets?: (masters: string) => Readonly<Record<"login-gate" | "lobby", string>>;
  /** Text of `svc.toml`. */
  configToml: (facts: StackFacts) => string;
  /**
   * The embedded cluster: its image table (a file, or the table itself, then written into the data folder) and the
   * service accounts as `namespace/name`; a service named like an account gets its kubeconfig.
   */
  cluster: {
    images: string | ((programs: StackPrograms) => object);
    nodes?: number;
    serviceAccounts: readonly string[];
  };
  /** Fills the registry once it answers. */
  fillRegistry?: (
    registry: { host: string; password: string; signal: AbortSignal },
    programs: StackPrograms,
  ) => Promise<void>;
  /** Other programs than those of the checkout, for tests. */
  programs?: StackPrograms;
  /** Prints one line on stderr. */
  say: (line: string) => void;
  /** Prints lines on stdout once the stack is ready. */
  announce?: (text: string) => void;
};
