// What the daemon and the kernel say of the containers that run: whether they are healthy, and what they may do.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { until } from "@svc/local-stack/testing";
import type { Docker } from "./daemon.ts";

type Container = {
  Name: string;
  RestartCount: number;
  State: { Pid: number; Running: boolean; Health?: { Status: string } };
  HostConfig: {
    ReadonlyRootfs: boolean;
    Memory: number;
    PidsLimit: number | null;
    LogConfig: { Config: Record<string, string> };
  };
  NetworkSettings: { Ports: Record<string, { HostIp: string; HostPort: string }[] | null> | null };
};

/** Those that compose.yaml started and that run now, by the name of their service. */
async function runningOf(docker: Docker, project: string): Promise<Map<string, Container>> {
  const label = `label=com.docker.compose.project=${project}`;
  const ids = (await docker.run("ps", "--quiet", "--filter", label)).split("\n").filter((id) => id !== "");
  const found = JSON.parse(await docker.run("inspect", ...ids)) as Container[];
  return new Map(found.map((one) => [one.Name.replace(`/${project}_`, "").replace(/_\d+$/, ""), one]));
}

/** What the kernel enforces on the first process of a container. */
function rightsOf({ State }: Container): Record<string, string> {
  const lines = readFileSync(`/proc/${State.Pid}/status`, "utf8").split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/:\s+/, 2) as [string, string]));
}

/** Waits until every container with a health check is healthy. */
export async function becomeHealthy(docker: Docker, project: string): Promise<void> {
  let waiting: string[] = [];
  const allAre = async () => {
    waiting = [...(await runningOf(docker, project))].flatMap(([name, { State }]) =>
      State.Health === undefined || State.Health.Status === "healthy" ? [] : [name],
    );
    return waiting.length === 0;
  };
  await until(allAre, 120_000, "all containers to be healthy").catch(() => {
    throw new Error(`not healthy: ${waiting.join(", ")}`);
  });
}

/** Every container is without rights, within limits and on loopback; `names` are those that must run. */
export async function checkContainment(
  docker: Docker,
  { project, names }: { project: string; names: readonly string[] },
): Promise<void> {
  const running = await runningOf(docker, project);
  assert.deepEqual([...running.keys()].sort(), [...names].sort());
  for (const [name, container] of running) {
    const { HostConfig, RestartCount, NetworkSettings } = container;
    const rights = rightsOf(container);
    const none = "0000000000000000";
    assert.deepEqual(
      ["CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"].map((key) => rights[key]),
      [none, none, none, none, "1", "2"],
      `${name} has no capabilities and cannot get any`,
    );
    assert.doesNotMatch(rights["Uid"] ?? "", /\b0\b/, `${name} is not root`);
    assert.equal(HostConfig.ReadonlyRootfs, true, `the image of ${name} is read-only`);
    assert.ok(HostConfig.Memory > 0 && (HostConfig.PidsLimit ?? 0) > 0, `${name} has limits`);
    assert.ok(HostConfig.LogConfig.Config["max-size"], `the log of ${name} is rotated`);
    assert.equal(RestartCount, 0, `${name} was not restarted`);
    for (const { HostIp } of Object.values(NetworkSettings.Ports ?? {}).flatMap((one) => one ?? []))
      assert.equal(HostIp, "127.0.0.1", `${name} publishes on loopback alone`);
  }
  console.log(`${running.size} containers have no rights that they do not need`);
}

/** Kills the first process of a container as the kernel would, and waits until it is there again. */
export async function killContainer(docker: Docker, project: string, name: string): Promise<void> {
  const before = (await runningOf(docker, project)).get(name);
  assert.ok(before);
  process.kill(before.State.Pid, "SIGKILL");
  const isBack = async () => {
    const now = (await runningOf(docker, project)).get(name);
    return now !== undefined && now.State.Pid !== before.State.Pid && now.State.Health?.Status === "healthy";
  };
  await until(isBack, 60_000, `${name} to be started again`);
}
