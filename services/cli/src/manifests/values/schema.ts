// Everything that can be chosen about an installation on a cluster; the values of the chart, of the Kustomize overlays and of
// `svc manifests render`.

import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { z } from "zod";
import { isOn, kubeName, port, quantity, replicas, resourcesOf, storage, stringMap, text } from "./common.ts";

type Size = { replicas: number; memory: string; limit: string; cpu?: string };

/** A Deployment of the control plane. */
const serviceShape = ({ replicas: count, memory, limit, cpu = "100m" }: Size) => ({
  replicas: replicas(count),
  resources: resourcesOf(cpu, memory, limit),
  secretEnv: text("Existing Secret whose keys become environment variables; empty = none."),
});
const service = (what: string, size: Size) => z.strictObject(serviceShape(size)).prefault({}).describe(what);

/** A Service that is reached from outside. */
const serviceType = z.enum(["ClusterIP", "NodePort", "LoadBalancer"]);
const exposed = {
  serviceAnnotations: stringMap("Annotations of its Service, such as those of a load balancer."),
};

const images = z
  .strictObject({
    services: text(
      "Image of every process of the control plane (the last stage of deploy/images/Dockerfile).",
      "svc:0.1.0",
    ),
    agents: text("Image of Jobs on worlds and of the steps of builds (target `agents`).", "svc-agents:0.1.0"),
    builder: text("Image that builds what users submit (target `builder`).", "svc-builder:0.1.0"),
    scanner: text("Image that scans it (target `scanner`).", "svc-scanner:0.1.0"),
    nats: text(
      "Image of nats-server, 2.11 or later.",
      "nats:2.14.5@sha256:92747d0e6e1e01d40fddf588d26fccbe9dcc0f6b5af62eac4d11cbc4edd5bc2e",
    ),
    postgres: text(
      "Image of PostgreSQL, 15 or later.",
      "postgres:18.4@sha256:3a82e1f56c8f0f5616a11103ac3d47e632c3938698946a7ad26da0df1334744a",
    ),
    registry: text(
      "Image of the registry.",
      "registry:2.8.3@sha256:a3d8aaa63ed8681a604f1dea0aa03f100d5895b6a58ace528858a7b332415373",
    ),
    pullPolicy: z
      .enum(["IfNotPresent", "Always", "Never"])
      .default("IfNotPresent")
      .describe("When nodes pull images."),
    pullSecrets: z
      .array(z.strictObject({ name: z.string() }))
      .default([])
      .describe("Secrets to pull images with, as `[{ name: … }]`."),
  })
  .prefault({})
  .describe("Images, with a tag or a digest. Never reuse a tag: a new image is what starts a migration.");

const secrets = z
  .strictObject({
    nats: kubeName("svc-nats", "Existing Secret: a password for each user of NATS."),
    database: kubeName("svc-database", "Existing Secret: `admin` and a password for each service's role."),
    tokens: kubeName("svc-tokens", "Existing Secret: a token for each caller of the internal face."),
    forwarding: kubeName("svc-forwarding", "Existing Secret: `masters` of the players' forwarding secrets."),
    registry: kubeName(
      "svc-registry",
      "Existing Secret: `credentials`, `http_secret`, `push` and `prune` of the registry, and `restore` while images are brought back.",
    ),
    sftp: kubeName("svc-sftp", "Existing Secret: `host_key`, from which the host key of SFTP is derived."),
    smtp: text("Existing Secret: `password` of the mail relay; empty = none is needed."),
  })
  .prefault({})
  .describe("Secrets that exist; `svc manifests secrets` makes the first ones.");

const nats = z
  .strictObject({
    enabled: isOn(true, "Whether NATS is part of the installation; otherwise `host` names one."),
    replicas: z
      .union([z.literal(1), z.literal(3)])
      .default(1)
      .describe("Servers of NATS; with 3 every stream is stored three times."),
    host: text("Host of a NATS that is not part of the installation."),
    port: port(4222, "Its port."),
    scheme: z.enum(["nats", "tls"]).default("nats").describe("`tls` for a NATS with TLS."),
    storage: storage("10Gi", "a server's volume"),
    resources: resourcesOf("200m", "128Mi", "1Gi"),
  })
  .prefault({})
  .describe("NATS.");

const postgres = z
  .strictObject({
    enabled: isOn(
      true,
      "Whether PostgreSQL is part of the installation, as one server; otherwise `host` names one.",
    ),
    host: text("Host of a PostgreSQL that is not part of the installation."),
    port: port(5432, "Its port."),
    database: text("Database of svc.", "svc"),
    adminUser: text("Superuser of `svc migrate up`; its password is `admin` of the Secret.", "postgres"),
    options: text("End of every connection URL, such as `?sslmode=verify-full`."),
    storage: storage("20Gi", "its volume"),
    resources: resourcesOf("250m", "512Mi", "2Gi"),
  })
  .prefault({})
  .describe("PostgreSQL.");

const registry = z
  .strictObject({
    enabled: isOn(true, "Whether a registry with its gate is part of the installation; builds need one."),
    url: text("host:port of a registry that is not part of the installation; empty = no builds."),
    hostPort: z
      .int()
      .min(0)
      .max(65_535)
      .default(5000)
      .describe("Port of its node, over which nodes pull; 0 = none. Close it to the outside."),
    storage: storage("50Gi", "its volume"),
    resources: resourcesOf("50m", "96Mi", "768Mi"),
  })
  .prefault({})
  .describe("The registry of images.");

const volumes = z
  .strictObject({
    kind: z
      .enum(["local", "nfs"])
      .default("local")
      .describe(
        "`local`: folders of the node that has the label `nodeLabel` with the value `controller`; `nfs`: shared by all nodes.",
      ),
    nodeLabel: z
      .enum([nodeLabels.role, oldNodeLabels.role])
      .default(nodeLabels.role)
      .describe(
        `Label of the node of local folders. \`${oldNodeLabels.role}\` only for volumes of an earlier release, in which it can't be changed.`,
      ),
    nfsServer: text("Server of the folders when they are shared."),
    archivePath: text("Folder of world archives.", "/var/lib/svc/archive"),
    archiveSize: quantity("100Gi").describe("Its size."),
    uploadsPath: text("Folder of uploads and of contexts of builds.", "/var/lib/svc/uploads"),
    uploadsSize: quantity("50Gi").describe("Its size."),
    databaseBackups: storage("20Gi", "the volume of database bundles"),
  })
  .prefault({})
  .describe("Volumes of archives, uploads and database bundles.");

const smtp = z
  .strictObject({
    host: text("Mail relay; empty = no mail, and nobody can sign in with a mailed code."),
    port: port(587, "Its port; 465 speaks TLS from the first byte, others STARTTLS."),
    from: text("Sender of mails; required with a host."),
    username: text("Name to sign in at the relay with; empty = no sign-in."),
  })
  .prefault({})
  .describe("Mail.");

const ingress = z
  .strictObject({
    enabled: isOn(false, "Whether an Ingress leads to the panel."),
    className: text("Its class; empty = the cluster's default."),
    annotations: stringMap("Its annotations, such as that of an issuer of certificates."),
    tlsSecret: text(
      "Existing Secret with the certificate of both hosts; the panel works over https only.",
      "svc-panel-tls",
    ),
  })
  .prefault({})
  .describe("The Ingress of the panel.");

const networkPolicies = z
  .strictObject({
    enabled: isOn(
      true,
      "Whether every namespace denies what is not needed; the network plugin must enforce policies.",
    ),
    apiServerCidr: text("Addresses of the Kubernetes API.", "0.0.0.0/0"),
    clientCidr: text("Addresses that may reach the panel, the proxy and SFTP.", "0.0.0.0/0"),
    monitoringNamespace: text("Namespace whose pods may read metrics.", "monitoring"),
    smtpPort: port(587, "Port on which mails are sent."),
  })
  .prefault({})
  .describe("Network policies.");

export const Values = z.strictObject({
  rootDomain: z
    .string()
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "must be a domain with a dot in it")
    .default("play.example.net")
    .describe("Domain whose subdomains players type; the panel is at console.<rootDomain>."),
  namespaces: z
    .strictObject({
      control: kubeName("svc", "Namespace of the control plane."),
      game: kubeName("minecraft", "Namespace of game servers and of Jobs on their worlds."),
      build: kubeName("svc-build", "Namespace of image builds."),
    })
    .prefault({})
    .describe("Namespaces. They exist before the rest (docs/install.md)."),
  images,
  secrets,
  settings: z
    .array(z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]+=/, "must be section.key=value"))
    .default([])
    .describe("Further settings of the services as `section.key=value` (docs/reference/settings.md)."),
  extraConfig: text("Further text of svc.toml, such as `[[auth_source]]`."),
  authorities: text(
    "Certificates (PEM) of authorities that services trust beside the public ones, such as one of your own.",
  ),
  clientIpHeader: text(
    "Header with the address of a visitor, set by what stands before the panel; empty = that of the connection.",
  ),
  gatewayExternal: z
    .strictObject({
      ...serviceShape({ replicas: 2, memory: "192Mi", limit: "512Mi" }),
      ...exposed,
      serviceType: serviceType.default("ClusterIP").describe("Type of the panel's Service."),
    })
    .prefault({})
    .describe("The external face: the panel, and programs of people."),
  gatewayInternal: service("The internal face: proxy, login gate, Jobs.", {
    replicas: 2,
    memory: "192Mi",
    limit: "512Mi",
  }),
  identity: service("Accounts, sessions, mail, the audit log.", {
    replicas: 2,
    memory: "160Mi",
    limit: "512Mi",
  }),
  lifecycle: service("Game servers and their schedules.", {
    replicas: 2,
    memory: "192Mi",
    limit: "1Gi",
    cpu: "200m",
  }),
  storage: service("Worlds: backups, restores, files.", {
    replicas: 2,
    memory: "192Mi",
    limit: "768Mi",
    cpu: "200m",
  }),
  builds: service("Images: whitelist, builds, scans.", { replicas: 2, memory: "160Mi", limit: "768Mi" }),
  opsWatchdog: z
    .strictObject({
      resources: resourcesOf("100m", "160Mi", "1Gi"),
      secretEnv: text("Existing Secret whose keys become environment variables; empty = none."),
    })
    .prefault({})
    .describe("Bundles of the database, updates, the watchdog; one pod."),
  proxy: z
    .strictObject({
      ...serviceShape({ replicas: 2, memory: "128Mi", limit: "512Mi" }),
      ...exposed,
      serviceType: serviceType.default("LoadBalancer").describe("Type of the players' Service."),
      port: port(25_565, "Port that players connect to."),
      transferTo: text(
        "Address as host:port that a stopping proxy sends its players to; empty = the root domain and the port.",
      ),
    })
    .prefault({})
    .describe("The proxy, which players connect to."),
  sftp: z
    .strictObject({
      enabled: isOn(false, "Whether SFTP for files of worlds is part of the installation."),
      ...serviceShape({ replicas: 1, memory: "128Mi", limit: "512Mi" }),
      ...exposed,
      serviceType: serviceType.default("LoadBalancer").describe("Type of its Service."),
      port: port(2222, "Port that people connect to."),
      host: text("Host that people connect to, which leads to its Service; empty = sftp.<rootDomain>."),
    })
    .prefault({})
    .describe("SFTP with SSH keys (docs/reference/sftp.md)."),
  loginGate: z
    .strictObject({ resources: resourcesOf("50m", "128Mi", "384Mi") })
    .prefault({})
    .describe("The login gate."),
  lobby: z
    .strictObject({ resources: resourcesOf("50m", "128Mi", "384Mi") })
    .prefault({})
    .describe("The lobby."),
  game: z
    .strictObject({
      defaultImage: text(
        "Image of a server that names none, while no other tag of its repository suits more players; it must be on the whitelist.",
      ),
      recommendedImages: z
        .array(z.string())
        .default([])
        .describe("Images that are put on the whitelist once."),
    })
    .prefault({})
    .describe("Game servers."),
  nats,
  postgres,
  registry,
  volumes,
  smtp,
  ingress,
  networkPolicies,
  podDisruptionBudgets: isOn(true, "Whether a drain of nodes leaves all but one pod of each service."),
  scheduling: z
    .strictObject({
      spread: z
        .enum(["ScheduleAnyway", "DoNotSchedule"])
        .default("ScheduleAnyway")
        .describe("What to do when pods of a service can't be spread over nodes and zones."),
      nodeSelector: stringMap("Labels of the nodes of the control plane."),
      tolerations: z
        .array(z.record(z.string(), z.unknown()))
        .default([])
        .describe("Taints that its pods tolerate."),
    })
    .prefault({})
    .describe("Where pods of the control plane run."),
  monitoring: z
    .strictObject({
      annotations: isOn(true, "Whether pods have the annotations `prometheus.io/…`."),
      podMonitor: isOn(false, "Whether a PodMonitor is made; it needs the Prometheus operator."),
      rules: z
        .enum(["none", "ConfigMap", "PrometheusRule"])
        .default("none")
        .describe("Rules of alerts: as a ConfigMap, or as a PrometheusRule for the Prometheus operator."),
      dashboards: isOn(false, "Whether a ConfigMap is made of each dashboard, for the sidecar of Grafana."),
    })
    .prefault({})
    .describe("Metrics."),
  tracing: z
    .strictObject({
      endpoint: text(
        "URL of an OTLP collector, such as `http://collector.monitoring:4318`; without one nothing is traced.",
        "",
      ),
      port: port(4318, "Its port, for the network policies."),
      share: z
        .string()
        .regex(/^(0(\.\d{1,6})?|1)$/, "must be a number from 0 to 1")
        .default("0.1")
        .describe("Share of the requests that are traced, from 0 to 1."),
    })
    .prefault({})
    .describe("Traces of requests (docs/reference/tracing.md)."),
  reaper: z
    .strictObject({
      schedule: text("When the daily reaper runs, as a CronJob's schedule in UTC.", "17 4 * * *"),
    })
    .prefault({})
    .describe("The reaper of idle worlds."),
});

export type Values = z.output<typeof Values>;
