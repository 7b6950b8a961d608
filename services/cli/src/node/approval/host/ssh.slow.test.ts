// The machine through a real sshd on this one, whose programs are stand-ins, and the command with it against the embedded API.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { connectKube, type Kube, resources } from "@svc/kube";
import { type LocalCluster, startLocalCluster } from "@svc/local-cluster";
import { joinTaint, nodeLabels } from "@svc/proto/node-labels";
import { until } from "../../../../../../libs/mesh/src/testing.ts";
import { runCommand } from "../../../testing/run-command.ts";
import { goodMachine, writeMachine, writeProgram } from "../../../testing/stand-in-machine.ts";
import { readHost } from "./read-host.ts";
import type { HostReport } from "./report.ts";

const name = "local-2";
const version = "v1.28.0+local";
const good = goodMachine(name, version);

function missing(): string | undefined {
  for (const program of ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-agent", "/usr/bin/ssh-keygen"])
    try {
      accessSync(program);
    } catch {
      return `no ${program}; apt-get install openssh-server openssh-client`;
    }
  // The script wants root, and sudo is not everywhere.
  return process.getuid?.() === 0 ? undefined : "not root";
}

describe("over SSH", () => {
  const reason = missing();
  if (reason) {
    test(`skipped: ${reason}`, (t) => t.skip(reason));
    return;
  }
  let dir: string;
  let bin: string;
  let port: number;
  let knownHosts: string;
  let target: { host: string; port: number; name: string; knownHosts: string };
  const children: ChildProcess[] = [];
  const agentBefore = process.env["SSH_AUTH_SOCK"];

  const makeKey = (file: string) => {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, file)]);
    return readFileSync(join(dir, `${file}.pub`), "utf8");
  };
  const know = (key: string) => writeFileSync(knownHosts, key && `[127.0.0.1]:${port} ${key}`);
  let hostKey: string;

  async function startSshd(): Promise<void> {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    ({ port } = free.address() as { port: number });
    await new Promise((done) => free.close(done));
    const config = [
      ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${join(dir, "host")}`, "PidFile none"],
      ...[`AuthorizedKeysFile ${join(dir, "client.pub")}`, "StrictModes no", "UsePAM no"],
      ...[
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        `SetEnv PATH=${bin}:/usr/bin:/bin`,
      ],
    ];
    writeFileSync(join(dir, "sshd_config"), config.join("\n"));
    // Debian's service makes it, for the unprivileged part of sshd.
    mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    const sshd = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(dir, "sshd_config")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(sshd);
    let said = "";
    sshd.stderr.on("data", (data) => (said += data));
    await until(() => said.includes("Server listening"), 10_000, "sshd to listen");
  }

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "svc-ssh-"));
    bin = writeMachine(dir, good);
    hostKey = makeKey("host");
    makeKey("client");
    await startSshd();
    const socket = join(dir, "agent");
    children.push(spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" }));
    process.env["SSH_AUTH_SOCK"] = socket;
    await until(() => {
      try {
        execFileSync("ssh-add", ["-q", join(dir, "client")], { stdio: "ignore" });
        return true;
      } catch {
        return false;
      }
    });
    knownHosts = join(dir, "known_hosts");
    target = { host: "127.0.0.1", port, name: "127.0.0.1", knownHosts };
  });
  beforeEach(() => {
    know(hostKey);
    writeMachine(dir, good);
    rmSync(join(bin, "sh"), { force: true });
  });
  after(async () => {
    if (agentBefore === undefined) delete process.env["SSH_AUTH_SOCK"];
    else process.env["SSH_AUTH_SOCK"] = agentBefore;
    for (const child of children) {
      const ended = child.exitCode === null && once(child, "exit");
      child.kill();
      await ended;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  test("a machine with a known host key is read", async () => {
    assert.deepEqual(await readHost(target), {
      ...{ node: name, version, wireguard: ["flannel-wg"], hasIpv6: true },
      ...{ chains: [{ family: "inet", otherwise: "drop" }], labels: "refused", taints: "refused" },
    });
    assert.equal(((await readHost({ ...target, user: userInfo().username })) as HostReport).node, name);
  });

  const problemOf = async (timeoutMs?: number) => {
    const answer = await readHost(target, timeoutMs);
    return "problem" in answer ? answer.problem : assert.fail(JSON.stringify(answer));
  };

  test("a machine with another host key is refused, and one whose key is not known; nothing is noted", async () => {
    know(makeKey("other"));
    assert.match(await problemOf(), /127\.0\.0\.1: its host key is another than the known one/);
    know("");
    assert.match(await problemOf(), /its host key is not known. Compare it/);
    assert.equal(readFileSync(knownHosts, "utf8"), "");
  });

  test("a machine that knows no key of ours, or does not listen, says what to do", async () => {
    execFileSync("ssh-add", ["-q", "-D"], { stdio: "ignore" });
    try {
      assert.match(await problemOf(), /accepts no key of yours .*ssh-copy-id/);
    } finally {
      execFileSync("ssh-add", ["-q", join(dir, "client")], { stdio: "ignore" });
    }
    const closed = await readHost({ ...target, port: 1 });
    assert.match((closed as { problem: string }).problem, /ssh does not connect: .*Connection refused/);
  });

  test("without a program ssh it says so", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = join(dir, "facts");
    try {
      assert.match(await problemOf(), /no program ssh here; install the OpenSSH client/);
    } finally {
      process.env["PATH"] = path;
    }
  });

  const report = "svc-host-report 1\\nnode local-2\\n";
  const hostile: [fact: string, sh: string, says: RegExp][] = [
    ["prints megabytes", "exec yes 'wireguard wg0'", /more than the script prints/],
    ["prints megabytes as errors", "head -c 5000000 /dev/zero >&2", /did not answer in the expected form/],
    ["prints nothing", "cat >/dev/null", /did not answer in the expected form/],
    ["prints escapes", `cat >/dev/null; printf '${report}\\033[2Jversion v1.2.3\\n'`, /in the expected form/],
    ["ends with a failure", "cat >/dev/null; exit 3", /the script ended with 3; it needs root, or .* sudo/],
    [
      "claims an error of ssh in escapes",
      "cat >/dev/null; printf '\\033[31mbroken\\007\\n' >&2; exit 255",
      /ssh does not connect: \[31mbroken$/,
    ],
  ];
  for (const [fact, sh, says] of hostile)
    test(`a machine that ${fact} is not read`, async () => {
      writeProgram(bin, "sh", sh);
      assert.match(await problemOf(), says);
    });

  test("a machine that hangs is given up", async () => {
    writeProgram(
      bin,
      "sh",
      `while [ -e '${join(dir, "host")}' ] && [ ! -e '${join(dir, "go")}' ]; do sleep 0.1; done`,
    );
    const before = Date.now();
    assert.match(await problemOf(1500), /no answer within 1\.5 s/);
    assert.ok(Date.now() - before < 20_000);
    writeFileSync(join(dir, "go"), "");
  });

  describe("an approval", () => {
    let cluster: LocalCluster;
    let kube: Kube;
    let args: string[];

    before(async () => {
      const images = join(dir, "images.json");
      writeFileSync(images, JSON.stringify({ "node-image": { command: [process.execPath] } }));
      writeFileSync(join(dir, "open.yaml"), "networkPolicies: { enabled: false }\n");
      cluster = await startLocalCluster({ dataDir: join(dir, "cluster"), port: 0, images, nodes: 2 });
      const kubeconfig = join(dir, "kubeconfig");
      const config = {
        ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
        clusters: [{ name: "c", cluster: { server: cluster.url } }],
        users: [{ name: "u", user: { token: cluster.adminToken } }],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      };
      writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
      kube = connectKube({ kubeconfigFile: kubeconfig });
      args = [
        ...["node", "approve", name, "--kubeconfig", kubeconfig, "--values", join(dir, "open.yaml")],
        ...["--reference", "local-1", "--image", "node-image", "--confirm", "kubelet-rights"],
        ...["--ssh", `127.0.0.1:${port}`, "--ssh-known-hosts", knownHosts],
      ];
    });
    after(async () => {
      kube?.close();
      await cluster?.close();
    });
    beforeEach(async () => {
      const labels = { [nodeLabels.approved]: null, [nodeLabels.identity]: null, [nodeLabels.role]: null };
      await kube.patch(
        resources.nodes,
        { name },
        { merge: { metadata: { labels }, spec: { taints: [joinTaint] } } },
      );
    });

    async function svc(...more: string[]) {
      const { code, out } = await runCommand([...args, ...more]);
      const { metadata, spec } = await kube.get(resources.nodes, { name });
      const isTainted = spec?.taints?.some(({ key }) => key === joinTaint.key) ?? false;
      return { code, out, isApproved: metadata.labels?.[nodeLabels.approved] === "true", isTainted };
    }

    test("the plan names what is run on the machine, and does not connect", async () => {
      know("");
      const { code, out, isTainted } = await svc();
      assert.equal(code, 0);
      assert.match(out, /log in to 127\.0\.0\.1 over SSH, if its host key is known, .*\n {4}ip link show/);
      assert.match(out, /patch node --dry-run=server .* must be refused/);
      assert.doesNotMatch(out, /host-firewall/);
      assert.ok(isTainted);
    });

    test("a node where all is well is approved, and nobody confirms what the machine says", async () => {
      const { code, out, isApproved, isTainted } = await svc("--yes", "--json");
      const { healthy, findings } = JSON.parse(out);
      assert.deepEqual(
        findings.filter(({ ok }: { ok: boolean }) => !ok),
        [],
      );
      const of = (check: string) => findings.find((one: { check: string }) => one.check === check)?.detail;
      assert.equal(of("encryption"), "WireGuard, says the machine (flannel-wg)");
      assert.equal(of("host firewall"), "the machine drops incoming packets that no rule allows");
      assert.equal(
        of("machine: labels"),
        "its kubelet tried to change the labels that svc trusts, and was refused",
      );
      assert.deepEqual(
        { code, healthy, isApproved, isTainted },
        { code: 0, healthy: true, isApproved: true, isTainted: false },
      );
    });

    const bad: [fact: string, change: () => void, says: RegExp][] = [
      [
        "a kubelet that may edit its labels",
        () => writeMachine(dir, { ...good, labels: "" }),
        /BAD {2}machine: labels +its kubelet may change the labels/,
      ],
      [
        "a machine without a firewall, even when one is confirmed",
        () => writeMachine(dir, { ...good, nft: "" }),
        /BAD {2}host firewall +nothing there drops/,
      ],
      [
        "the machine of another node",
        () => writeMachine(dir, goodMachine("local-1", version)),
        /BAD {2}machine +it is local-1, not local-2/,
      ],
      [
        "a machine with another host key",
        () => know(readFileSync(join(dir, "client.pub"), "utf8")),
        /BAD {2}machine +127.*another than/,
      ],
    ];
    for (const [fact, change, says] of bad)
      test(`${fact} keeps the taint`, async () => {
        change();
        const { code, out, isApproved, isTainted } = await svc(
          "--yes",
          "--confirm",
          "kubelet-rights,host-firewall,encryption",
        );
        assert.match(out, says);
        assert.match(out, /local-2 keeps its taint/);
        assert.deepEqual({ code, isApproved, isTainted }, { code: 1, isApproved: false, isTainted: true });
      });
  });
});
