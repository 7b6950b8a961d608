/** How to start one program: everything `spawn` needs, and how to tell that it serves. */
export type ProcessPlan = {
  command: string;
  args: readonly string[];
  /** The whole environment; without it the child gets that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Variables beside those. */
  mark?: Readonly<Record<string, string>>;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Runs before every start, the restarts included; a throw counts as a failed start. */
  beforeStart?: () => Promise<void>;
  ready?: Readiness;
  /** How it is asked to end; SIGTERM unless said otherwise. */
  stopSignal?: NodeJS.Signals;
};

/**
 * `line`: a line of its output says so. `probe`: asked again and again with the pid until it answers true.
 * Without either a process is ready once it runs.
 */
export type Readiness = { line: (line: string) => boolean } | { probe: (pid: number) => Promise<boolean> };
