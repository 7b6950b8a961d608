// Settings of builds (docs/reference/settings.md); its numbers grow with its operations.

import { readFileSync } from "node:fs";
import { duration, section, size } from "@svc/config";
import { packs, scans } from "@svc/proto";
import { parseReference } from "@svc/registry";
import { z } from "zod";

const address = z
  .string()
  .regex(
    /^$|^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9][A-Za-z0-9.-]*)(:\d{1,5})?$/,
    "must be host or host:port without a scheme and without a path",
  );

const severity = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(scans.Severity);
const submissionSettings = {
  /** Submissions of an account that may wait for a review at once. */
  submissions_pending: z.number().int().min(1).max(1_000).default(5),
  /** Most bytes that an account may have staged, in review or rejected. */
  submission_account_bytes: size("2Gi"),
  /** Between two new submissions of an account. */
  submission_cooldown: duration("30s"),
  /** Between two contexts of an account. */
  upload_cooldown: duration("15s"),
  /** How long the writer of an upload may be silent before another may take over. */
  upload_lease: duration("30s"),
  /** How long staged parts are kept without another part. */
  staged_keep: duration("24h"),
  /** How long the context of a rejected submission is kept. */
  rejected_keep: duration("7d"),
  /** How long a file that no submission names is kept, since it may be named soon. */
  unnamed_keep: duration("1h"),
  /** Between two sweeps of contexts. */
  sweep_interval: duration("1h"),
  /** Between two checks for ended builds and due mails, and two counts of submissions. */
  notice_interval: duration("15s"),
  /** Contexts that one replica unpacks at once. */
  context_checks: z.number().int().min(1).max(16).default(2),
};

const packTemplate = `FROM {base}
LABEL svc.internal/pack-loader="{loader} {loader_version}" svc.internal/pack-minecraft="{minecraft}"
COPY server/ /data/
`;

/** Those that the format of Modrinth allows, and where GitHub redirects to. */
const packHosts = [
  "cdn.modrinth.com",
  "github.com",
  "objects.githubusercontent.com",
  "release-assets.githubusercontent.com",
  "raw.githubusercontent.com",
  "gitlab.com",
];

/** `LOADER/MINECRAFT=IMAGE`. */
const packBase = new RegExp(
  `^(${packs.PackLoader.options.join("|")})/(\\*|[A-Za-z0-9][A-Za-z0-9._+-]{0,63})=(\\S{1,512})$`,
);
const namesInBraces = (text: string) =>
  [...text.matchAll(/(?<!\$)\{([^{}]*)\}/g)].map(([, name = ""]) => name);
const placeholders = ["base", "loader", "loader_version", "minecraft"];

const packSettings = {
  /** Base images of packs without a Dockerfile, `LOADER/MINECRAFT=IMAGE` with `vanilla`, `fabric`, `quilt`, `forge` or `neoforge`, and `*` for every other Minecraft; an image without a host is in the platform's registry. Empty = no such packs. */
  pack_bases: z
    .array(
      z
        .string()
        .refine(
          (line) => parseReference(packBase.exec(line)?.[3] ?? "") !== undefined,
          "must be LOADER/MINECRAFT=IMAGE, such as fabric/1.21.4=svc/fabric:1.21.4",
        ),
    )
    .default([]),
  /** Their Dockerfile; `server/` holds the overrides and downloads, and `{base}`, `{loader}`, `{loader_version}` and `{minecraft}` are filled in. */
  pack_template: z
    .string()
    .max(32_768)
    .refine((text) => /^FROM \{base\}/m.test(text), "must have a line FROM {base}")
    .refine(
      (text) => namesInBraces(text).every((name) => placeholders.includes(name)),
      `may only have the placeholders ${placeholders.map((name) => `{${name}}`).join(", ")}`,
    )
    .default(packTemplate),
  /** Hosts from which builds download files of packs, with their port unless it is 443; redirects may only lead to these. */
  pack_hosts: z
    .array(z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:\d{1,5})?$/, "must be host or host:port"))
    .default(packHosts),
  /** Largest zip of a pack; each check at once needs as much temporary space. */
  pack_max_bytes: size("256Mi"),
  /** Most files that a build downloads for a pack. */
  pack_downloads: z.number().int().min(1).max(10_000).default(2_000),
  /** Most bytes that a build downloads for a pack. */
  pack_download_bytes: size("2Gi"),
};

export const settings = z.strictObject({
  registry: section({
    /** Registry of the platform; empty = none, then nothing is pinned. */
    url: address.default(""),
    /** Whether it speaks http without TLS; unset = only when it is on loopback. */
    plain_http: z.boolean().optional(),
    /** Longest wait for one answer of the registry. */
    timeout: duration("5s"),
    /** Namespace of the Jobs of builds. */
    build_namespace: z.string().min(1).default("svc-build"),
    /** Builds that run at once; 0 = 2. */
    max_concurrent_builds: z.number().int().min(0).max(6).default(0),
    /** Severities that block an image. */
    scan_fail_on: z.array(severity).default(["CRITICAL"]),
    /** Whether a vulnerability without a fix blocks too. */
    scan_fail_unfixed: z.boolean().default(false),
    /** Ids of vulnerabilities and of secret rules that are accepted as known risks. */
    scan_accept: z.array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/)).default([]),
    /** `optional`: a scan without a database of vulnerabilities is decided by its secrets alone. */
    scan_db: z.enum(["required", "optional"]).default("required"),
    /** Oldest database of vulnerabilities that a verdict may be based on. */
    scan_db_max_age: duration("7d"),
    /** Whether only images with provenance may be put on the whitelist and be used by servers. */
    require_provenance: z.boolean().default(false),
    /** How often images that are allowed or in use are scanned again; 0s = never. */
    rescan_every: duration("24h"),
    /** CPU of the builder and the scanner. */
    build_cpu_limit: z.string().min(1).default("2"),
    /** Memory of the builder. */
    build_mem_limit: z.string().min(1).default("4Gi"),
    /** Scratch space of the builder. */
    build_disk_limit: z.string().min(1).default("12Gi"),
    /** Whether root of a build is an unprivileged user of the node (`hostUsers: false`); `auto` = where a Job shows that the nodes can. */
    build_user_namespaces: z.enum(["auto", "on", "off"]).default("auto"),
    /** RuntimeClass of builds, such as that of a sandbox; empty = that of the nodes. */
    build_runtime_class: z.string().default(""),
    /** Variable with `user:password` of the right to push builds; `<name>_FILE` may name a file instead. */
    push_token_ref: z.string().min(1).default("SVC_REGISTRY_PUSH_TOKEN"),
    /** Variable with `user:password` of the right to delete images; `<name>_FILE` may name a file instead. */
    prune_token_ref: z.string().min(1).default("SVC_REGISTRY_PRUNE_TOKEN"),
    /** Variable with `user:password` of the right to write every image, which brings images back from off-site copies; `<name>_FILE` may name a file instead; unset = what builds may push. */
    restore_token_ref: z.string().min(1).default("SVC_REGISTRY_RESTORE_TOKEN"),
    /** How often images that nothing keeps are deleted; 0s = never. */
    prune_every: duration("6h"),
    /** Where contexts of submissions are stored: a folder that all replicas share, as a path or `file://`, or `s3://BUCKET/PREFIX`; anything else, and a bucket without credentials, = no uploads. */
    user_uploads_context: z.string().default("s3://svc-user-uploads"),
    /** Object store of that bucket, `http(s)://host[:port]`, a bare host = https; empty = AWS in `registry.s3_region`. */
    s3_endpoint: z
      .string()
      .regex(
        /^$|^(https?:\/\/)?[A-Za-z0-9.[\]:-]{1,260}$/,
        "must be a host or http(s)://host[:port] without a path",
      )
      .default(""),
    /** Region that its requests are signed for. */
    s3_region: z
      .string()
      .regex(/^[a-z0-9-]{1,63}$/, "must be a region such as us-east-1")
      .default("us-east-1"),
    /** Addresses of the form `endpoint/bucket`, which most stores other than AWS need. */
    s3_path_style: z.boolean().default(true),
    /** Variable with the access key of the bucket; `<name>_FILE` may name a file instead. */
    s3_access_key_ref: z.string().min(1).default("SVC_UPLOADS_ACCESS_KEY"),
    /** Variable with the secret of the access key; likewise. */
    s3_secret_key_ref: z.string().min(1).default("SVC_UPLOADS_SECRET_KEY"),
    /** Most bytes of all contexts that are staged, in review or rejected. */
    user_uploads_max_bytes: size("4Gi"),
    /** Share of the volume that uploads leave free. */
    user_uploads_keep_free: z.number().min(0).max(0.9).default(0.1),
    /** Most bytes of one context, compressed. */
    context_max_bytes: size("1Gi"),
  }),
  builds: section({
    /** Images that come with the platform; each is put on the whitelist once. */
    recommended: z.array(z.string().min(1).max(512)).default([]),
    /** Entries of one page of the whitelist. */
    list_page: z.number().int().min(1).max(1_000).default(500),

    /** Image with `build-agent`; empty = no builds. */
    agent_image: z.string().default(""),
    /** Command of that image; empty = its default command. */
    agent_command: z.array(z.string()).default([]),
    /** Image that builds; empty = that of the agent. */
    builder: z.string().default(""),
    /** Command of that image; empty = its default command. */
    builder_command: z.array(z.string()).default([]),
    /** Image that scans; empty = no builds, since no image is published without a scan. */
    scanner: z.string().default(""),
    /** Command of that image; empty = its default command. */
    scanner_command: z.array(z.string()).default([]),
    /** Whether a build waits until the Kubernetes API is out of reach; off only where there is no network policy. */
    egress_gate: z.boolean().default(true),
    /** ServiceAccount of the Jobs; it has no Role. */
    job_account: z.string().min(1).default("build-jobs"),
    /** Internal face as Jobs reach it, without a slash at its end; empty = no builds. */
    internal_url: z
      .string()
      .refine((url) => !url.endsWith("/"), "must not end with a slash")
      .default(""),
    /** Variable with the caller token `build` of the internal face; `<name>_FILE` may name a file instead. */
    caller_token_ref: z.string().min(1).default("SVC_BUILD_TOKEN"),

    /** Deadline of a build. */
    build_deadline: duration("30m"),
    /** How long a step may wait for an image that can't be pulled. */
    start_patience: duration("5m"),
    /** How long the finished Job is kept. */
    job_ttl: duration("7d"),
    /** Most bytes of an unpacked context. */
    context_bytes: size("4Gi"),
    /** Most entries of a context. */
    context_entries: z.number().int().min(1).default(200_000),
    /** Volume of the unpacked context. */
    context_disk: z.string().min(1).default("4Gi"),
    /** Volume of the built image. */
    image_disk: z.string().min(1).default("10Gi"),
    /** Volume of report and SBOM. */
    reports_disk: z.string().min(1).default("512Mi"),
    /** Scratch space of the scanner. */
    scan_disk: z.string().min(1).default("8Gi"),
    /** Memory of the scanner. */
    scan_memory: z.string().min(1).default("3Gi"),
    /** Scratch space of each other step. */
    step_disk: z.string().min(1).default("1Gi"),
    /** CPU of each other step. */
    step_cpu: z.string().min(1).default("500m"),
    /** Memory of each other step. */
    step_memory: z.string().min(1).default("512Mi"),

    /** How often builds are checked; PostgreSQL notifies of what starts. */
    poll_interval: duration("15s"),
    /** The same while any build runs. */
    busy_interval: duration("1s"),
    /** A leader that has not renewed its Lease for this long is replaced. */
    lease_duration: duration("12s"),
    /** How often a leader renews it. */
    lease_renew: duration("4s"),

    /** Most bytes of layers that are kept for later builds of one author. */
    cache_author_bytes: size("4Gi"),
    /** The same of all authors; 0 = nothing is kept or used. */
    cache_bytes: size("20Gi"),
    /** How long a layer is kept that no build has used. */
    cache_keep: duration("14d"),

    /** How long a finding may be accepted. */
    acceptance_longest: duration("365d"),

    /** Longest line of a log; the rest is cut off. */
    log_line: size("8Ki"),
    /** Lines that are kept of a step. */
    log_lines: z.number().int().min(1).default(20_000),
    /** Bytes that are kept of a build's log, before compression. */
    log_max_bytes: size("4Mi"),
    /** How long logs are kept. */
    log_retention: duration("90d"),
    /** Lines a second of a live log on average. */
    log_lines_per_second: z.number().int().min(1).default(2_000),
    /** Lines of a live log at once. */
    log_burst: z.number().int().min(1).default(10_000),
    ...submissionSettings,
    ...packSettings,
  }),
});
export type Settings = z.output<typeof settings>;

export type RegistrySettings = Pick<Settings["registry"], "url" | "plain_http" | "timeout">;

/** The kubeconfig of this process; undefined inside a pod, which has a service account. */
export function kubeconfigFile(): string | undefined {
  return process.env["SVC_KUBECONFIG"] || undefined;
}

/** Version of svc. */
export function buildVersion(): string {
  return process.env["SVC_VERSION"] || "0.1.0";
}

export type BuildSecrets = { callerToken: string; pushCredential: string | undefined };

/** Secrets that the Jobs of builds get, as they are now: files of rotated tokens change. */
export function readBuildSecrets({ registry, builds }: Settings, env = process.env): BuildSecrets {
  return {
    callerToken: readSecret(builds.caller_token_ref, env),
    pushCredential: readSecret(registry.push_token_ref, env) || undefined,
  };
}

/** Undefined when the installation gives builds no right to delete images. */
export function readPruneCredential({ registry }: Settings, env = process.env): Credential | undefined {
  return parseCredential(readSecret(registry.prune_token_ref, env));
}

/** What brings images back: everything, or, where nothing else is given, what builds may push. */
export function readRestoreCredential({ registry }: Settings, env = process.env): Credential | undefined {
  const { restore_token_ref, push_token_ref } = registry;
  return parseCredential(readSecret(restore_token_ref, env) || readSecret(push_token_ref, env));
}

type Credential = { user: string; password: string };

function parseCredential(text: string): Credential | undefined {
  const [user, ...rest] = text.split(":");
  return user && rest.length > 0 ? { user, password: rest.join(":") } : undefined;
}

/** Undefined where one of both is missing. */
export function readBucketCredential(
  { registry }: Settings,
  env = process.env,
): { accessKey: string; secretKey: string } | undefined {
  const accessKey = readSecret(registry.s3_access_key_ref, env);
  const secretKey = readSecret(registry.s3_secret_key_ref, env);
  return accessKey && secretKey ? { accessKey, secretKey } : undefined;
}

function readSecret(name: string, env: NodeJS.ProcessEnv): string {
  const file = env[`${name}_FILE`];
  return (file ? readFileSync(file, "utf8") : (env[name] ?? "")).trim();
}
