// The cluster: whether it answers, its nodes and its servers (docs/reference/server-states.md).

import { connectKube, type Kube, type KubeObject, type Node, resource, resources } from "@svc/kube";
import {
  MinecraftServer,
  type MinecraftServerSpec,
  type MinecraftServerStatus,
  systemNames,
} from "@svc/proto";
import { type Finding, finding } from "../finding.ts";
import { NotConfiguredError, type Probe, type ProbeContext, UnknownError } from "./probe.ts";
import { reachable } from "./reachable.ts";

type Server = KubeObject & {
  spec?: Pick<MinecraftServerSpec, "desiredState">;
  status?: Pick<MinecraftServerStatus, "phase" | "conditions">;
};

const servers = resource<Server>({
  group: MinecraftServer.group,
  version: MinecraftServer.version,
  plural: MinecraftServer.plural,
  kind: MinecraftServer.kind,
  namespaced: true,
});
const dayMs = 86_400_000;
const maintenance = `${MinecraftServer.group}/maintenance`;
const clone = `${MinecraftServer.group}/clone`;

async function withCluster<T>(
  { kubeconfig, env }: ProbeContext,
  work: (kube: Kube) => Promise<T>,
): Promise<T> {
  if (!kubeconfig && !env["KUBERNETES_SERVICE_HOST"])
    throw new NotConfiguredError("no cluster is configured");
  let kube: Kube;
  try {
    kube = connectKube({ kubeconfigFile: kubeconfig });
  } catch (error) {
    throw new UnknownError((error as Error).message);
  }
  try {
    return await work(kube);
  } finally {
    kube.close();
  }
}

export const cluster = reachable("cluster", {
  reach: (context, signal) => withCluster(context, (kube) => kube.version({ signal })),
  wrong: (why) =>
    finding(
      {
        ...{ key: "cluster", severity: "critical", forMinutes: 5 },
        hint: {
          en: "Check the API server of the cluster and the network to it.",
          zh: "请检查集群的 API 服务器及其网络连接。",
        },
      },
      { en: "The API of the cluster does not answer: {why}", zh: "集群的 API 没有应答：{why}" },
      { why },
    ),
});

export const gameServers: Probe = {
  prefixes: ["server/", "system-server/", "world-lock/"],
  look: async (context, signal) => {
    const { namespace } = context.settings.k8s;
    const { items } = await withCluster(context, (kube) => kube.list(servers, { namespace, signal }));
    return { findings: items.flatMap((item) => judgeServer(item, context.now)) };
  },
};

export function judgeServer({ metadata, status }: Server, now: number): Finding[] {
  const { name } = metadata;
  const phase = status?.phase ?? "Unknown";
  if (systemNames.has(name)) return phase === "Running" ? [] : [systemServerDown(name, phase)];
  return [
    ...(phase === "Failed" ? [serverFailed(name, status?.conditions)] : []),
    ...judgeLock(name, metadata.annotations, now),
  ];
}

function systemServerDown(name: string, phase: string): Finding {
  return finding(
    {
      ...{ key: `system-server/${name}`, forMinutes: 10 },
      severity: name === "login" ? "critical" : "warning",
      hint: {
        en: "Look at its console and events; nobody can join without the login gate.",
        zh: "请查看其控制台和事件；登录门不可用时无人能加入。",
      },
    },
    { en: "The system server {name} is {phase}.", zh: "系统服务器 {name} 的状态为 {phase}。" },
    { name, phase },
  );
}

function serverFailed(name: string, conditions: MinecraftServerStatus["conditions"] = []): Finding {
  const reason = conditions.find(({ type }) => type === "Ready")?.reason ?? "Failed";
  return finding(
    {
      ...{ key: `server/${name}`, severity: "warning", forMinutes: 5 },
      hint: {
        en: "Its console says why; correct the cause and start it again.",
        zh: "原因见其控制台；排除后请重新启动。",
      },
    },
    { en: "The server {name} has failed: {reason}.", zh: "服务器 {name} 启动失败：{reason}。" },
    { name, reason },
  );
}

/** Only the locks of moves and clones never expire by themselves (docs/reference/world-lock.md#lock). */
function judgeLock(name: string, annotations: Record<string, string> | undefined, now: number): Finding[] {
  const value = annotations?.[maintenance];
  const [kind, time = ""] = (value ?? "").split("@");
  const heldMs = now - Date.parse(time);
  if (kind !== "migration" || !(heldMs > dayMs)) return [];
  const { hint, text } = isLockOf(annotations?.[clone], value) ? heldByClone : heldByMove;
  return [finding({ ...{ key: `world-lock/${name}`, severity: "warning" }, hint }, text, { name })];
}

/** A clone that was moved later has the lock of the move. */
function isLockOf(order: string | undefined, lock: string | undefined): boolean {
  return order !== undefined && lock !== undefined && order.includes(JSON.stringify(lock));
}

const heldByMove = {
  hint: {
    en: "`svc move` shows the move; retry or cancel it, the server cannot start before.",
    zh: "`svc move` 可查看迁移；请重试或取消，在此之前服务器无法启动。",
  },
  text: {
    en: "The world of {name} has been locked by a move for more than a day.",
    zh: "{name} 的世界已被迁移锁定超过一天。",
  },
};

const heldByClone = {
  hint: {
    en: "`svc server origin` says why its world did not come; try again or delete it, it cannot start before.",
    zh: "`svc server origin` 说明世界为何未能复制；请重试或删除该服务器，在此之前无法启动。",
  },
  text: {
    en: "{name} is a clone that has waited for its world for more than a day.",
    zh: "{name} 是克隆的服务器，等待世界已超过一天。",
  },
};

export const nodes: Probe = {
  prefixes: ["node/"],
  look: async (context, signal) => {
    const { items } = await withCluster(context, (kube) => kube.list(resources.nodes, { signal }));
    return { findings: items.flatMap(judgeNode) };
  },
};

const pressures: ReadonlySet<string> = new Set(["DiskPressure", "MemoryPressure", "PIDPressure"]);

export function judgeNode({ metadata, status }: Node): Finding[] {
  const { name } = metadata;
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  const hint = {
    en: "`kubectl describe node` says why; servers on it do not start.",
    zh: "`kubectl describe node` 会说明原因；该节点上的服务器无法启动。",
  };
  const pressed = conditions.filter(({ type, status: value }) => pressures.has(type) && value === "True");
  return [
    ...(ready?.status === "True"
      ? []
      : [
          finding(
            { key: `node/${name}/ready`, severity: "critical", forMinutes: 2, hint },
            { en: "The node {name} is not ready.", zh: "节点 {name} 未就绪。" },
            { name },
          ),
        ]),
    ...pressed.map(({ type }) =>
      finding(
        { key: `node/${name}/${type}`, severity: "warning", forMinutes: 5, hint },
        { en: "The node {name} reports {type}.", zh: "节点 {name} 报告 {type}。" },
        { name, type },
      ),
    ),
  ];
}
