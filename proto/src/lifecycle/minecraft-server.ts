// The orchestrator object of one server (docs/reference/server-resource.md#spec). The CRD's schema is generated from this, so a
// status field that is missing here would be pruned silently by the API server.

import { z } from "zod";
import { AfterCrash, WhenHung } from "./restart-policy.ts";
import { maxTags, tagColours } from "./server-tag.ts";

const text = z.string();
const seconds = (highest: number) => z.int32().min(0).max(highest);

/** `limits` and `requests` hold quantities by resource name. */
const Quantities = z.record(z.string(), z.string());

export const MinecraftServerSpec = z.object({
  subdomain: text,
  image: text,
  displayName: text.optional(),
  description: text.optional(),
  nodeName: text.optional(),
  desiredState: z.enum(["Running", "Stopped"]).optional(),
  autostartPolicy: z.enum(["public", "allowlist", "ownerOnly"]).optional(),
  fallbackServer: text.optional(),
  jar: text.optional(),
  javaMemory: text.optional(),
  javaFlags: z.array(text).optional(),
  args: z.array(text).optional(),
  env: z.array(z.object({ name: text, value: text.optional() })).optional(),
  onlineMode: z.boolean().optional(),
  motd: z
    .object({
      running: text.optional(),
      stopped: text.optional(),
      starting: text.optional(),
      failed: text.optional(),
    })
    .optional(),
  rcon: z
    .object({
      enabled: z.boolean().optional(),
      port: z
        .int32()
        .min(0)
        .max(65_535)
        .optional()
        .meta({
          "x-kubernetes-validations": [{ rule: "self == 0 || self == 25575", message: "rcon.port is 25575" }],
        }),
      secretRef: z.object({ name: text, key: text }).optional(),
    })
    .optional(),
  storage: z
    .object({ size: text.optional(), storageClassName: text.optional(), claimName: text.optional() })
    .optional(),
  resources: z.object({ limits: Quantities.optional(), requests: Quantities.optional() }).optional(),
  lifecycle: z.object({ terminationGracePeriodSeconds: z.int().min(0).max(3600).optional() }).optional(),
  startup: z
    .object({
      timeoutSeconds: seconds(86_400).optional(),
      readinessTimeoutSeconds: seconds(86_400).optional(),
      healthHTTPPort: z.int32().min(0).max(65_535).optional(),
      healthHTTPPath: text.optional(),
    })
    .optional(),
  idle: z
    .object({
      autoStopEnabled: z.boolean().optional(),
      emptySecondsBeforeStop: seconds(604_800).optional(),
      /** Until when it does not stop although it is empty, and since when that was asked for. */
      keptAwake: z
        .object({ since: z.iso.datetime({ offset: true }), until: z.iso.datetime({ offset: true }) })
        .optional(),
    })
    .optional(),
  reaperExempt: z.boolean().optional(),
  tags: z
    .array(z.object({ name: z.string().min(1).max(64), colour: z.enum(tagColours) }))
    .max(maxTags)
    .optional(),
  restart: z
    .object({
      afterCrash: AfterCrash.optional(),
      whenHung: WhenHung.optional(),
      silentMinutes: z.int32().min(5).max(120).optional(),
    })
    .optional(),
});
export type MinecraftServerSpec = z.output<typeof MinecraftServerSpec>;

const time = z.iso.datetime({ offset: true });

export const KubernetesCondition = z.object({
  type: z.string().max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
  lastTransitionTime: time,
  observedGeneration: z.int().min(0).optional(),
});
export type KubernetesCondition = z.output<typeof KubernetesCondition>;

export const MinecraftServerStatus = z.object({
  phase: z.enum(["Unknown", "Stopped", "Starting", "Running", "Stopping", "Failed"]).optional(),
  ready: z.boolean().optional(),
  readyReplicas: z.int32().optional(),
  nodeName: text.optional(),
  observedGeneration: z.int().optional(),
  /** Which forwarding secret this run has; forwarding.ts says how a proxy derives it. */
  forwardingKey: text.optional(),
  endpoint: z.object({ mode: z.enum(["direct", "fallback"]), address: text }).optional(),
  players: z.object({ online: z.int32(), max: z.int32() }).optional(),
  liveMotd: text.optional(),
  readySignalAt: time.optional(),
  startRequestedAt: time.optional(),
  emptySince: time.optional(),
  stopNoticeAt: time.optional(),
  autoRestarts: z.int32().optional(),
  lastAutoRestartAt: time.optional(),
  /** Whole seconds that the last successful starts took, the newest last, and the image of the newest. */
  startDurations: z.object({ image: text, seconds: z.array(z.int32()) }).optional(),
  conditions: z.array(KubernetesCondition).optional(),
});
export type MinecraftServerStatus = z.output<typeof MinecraftServerStatus>;

/** Names of the kind (docs/reference/server-resource.md#kind). */
export const MinecraftServer = {
  group: "svc.internal",
  version: "v1alpha1",
  kind: "MinecraftServer",
  plural: "minecraftservers",
  singular: "minecraftserver",
  shortNames: ["mcs", "mcserver"],
  spec: MinecraftServerSpec,
  status: MinecraftServerStatus,
} as const;
