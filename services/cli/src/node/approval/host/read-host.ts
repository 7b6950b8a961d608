// Reads a machine with the system's program ssh (docs/reference/moves.md#approve-ssh).

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { HostAnswer } from "./findings.ts";
import { readReport, reportLimit } from "./report.ts";
import { hostScript, remoteCommand } from "./script.ts";
import type { SshTarget } from "./target.ts";

// Four questions to the API server, and the connection.
const limitMs = 60_000;
const stderrLimit = 8192;

/** Never rejects: whatever goes wrong is a problem, in words that say what to do. */
export async function readHost(target: SshTarget, timeoutMs = limitMs): Promise<HostAnswer> {
  const ended = await runSsh(sshArguments(target), timeoutMs);
  const problem = (text: string) => ({ problem: `${target.name}: ${text}` });
  if (ended.problem !== undefined) return problem(ended.problem);
  if (ended.code === 255) return problem(connectionProblem(ended.stderr));
  if (ended.code !== 0)
    return problem(
      `the script ended with ${ended.code}; it needs root, or a user who may run sudo without a password`,
    );
  const report = readReport(ended.stdout);
  if (report) return report;
  return problem(
    "the machine did not answer in the expected form; login scripts of the user must print nothing, and it needs awk, sed and head",
  );
}

function sshArguments({ user, host, port, knownHosts }: SshTarget): string[] {
  const settings = [
    ...["BatchMode=yes", "StrictHostKeyChecking=yes", "VerifyHostKeyDNS=no", "UpdateHostKeys=no"],
    ...["NoHostAuthenticationForLocalhost=no", "ForwardAgent=no", "ClearAllForwardings=yes"],
    ...["PasswordAuthentication=no", "KbdInteractiveAuthentication=no", "PermitLocalCommand=no"],
    // Not through a connection that is open already: its key was not checked now.
    ...["ControlMaster=no", "ControlPath=none", "RemoteCommand=none"],
    ...["ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "LogLevel=ERROR"],
    ...(knownHosts === undefined
      ? []
      : [`UserKnownHostsFile=${knownHosts}`, "GlobalKnownHostsFile=/dev/null"]),
  ];
  return [
    ...["-T", "-a", "-x", ...settings.flatMap((one) => ["-o", one])],
    ...(user === undefined ? [] : ["-l", user]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...["--", host, remoteCommand],
  ];
}

type Ended = { code: number | null; stdout: string; stderr: string; problem?: string };

async function runSsh(args: string[], timeoutMs: number): Promise<Ended> {
  const child = spawn("ssh", args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended: Ended = { code: null, stdout: "", stderr: "" };
  const stop = (problem: string) => {
    ended.problem ??= problem;
    child.kill("SIGKILL");
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  const timer = setTimeout(
    () => stop(`no answer within ${timeoutMs / 1000} s; is the machine busy, or its API server away?`),
    timeoutMs,
  );
  child.stdout.on("data", (data: Buffer) => {
    ended.stdout += data.toString("latin1");
    if (ended.stdout.length > reportLimit) stop("the machine answered more than the script prints");
  });
  child.stderr.on("data", (data: Buffer) => {
    ended.stderr = (ended.stderr + data.toString("latin1")).slice(0, stderrLimit);
  });
  child.stdin.on("error", () => {});
  child.stdin.end(hostScript);
  child.on("error", (error: NodeJS.ErrnoException) => {
    ended.problem ??=
      error.code === "ENOENT"
        ? "there is no program ssh here; install the OpenSSH client"
        : `ssh does not start: ${error.code}`;
  });
  [ended.code] = (await once(child, "close").catch(() => [null])) as [number | null];
  clearTimeout(timer);
  return ended;
}

/** What ssh itself says when it does not connect. */
function connectionProblem(stderr: string): string {
  if (stderr.includes("REMOTE HOST IDENTIFICATION HAS CHANGED"))
    return "its host key is another than the known one, so it may be another machine. If it was installed anew, compare the new key with what ssh-keygen -lf prints on the machine, and replace the old one (ssh-keygen -R HOST)";
  if (/host key is known|Host key verification failed/.test(stderr))
    return "its host key is not known. Compare it with what ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub prints on the machine while you connect once with ssh, or give --ssh-known-hosts FILE";
  if (stderr.includes("Permission denied"))
    return "it accepts no key of yours and svc gives no password; add your key there (ssh-copy-id) and to ssh-agent";
  const [last = ""] = stderr.trim().split("\n").slice(-1);
  return `ssh does not connect: ${last.replaceAll(/[^ -~]/g, "").slice(0, 200) || "it does not say why"}`;
}
