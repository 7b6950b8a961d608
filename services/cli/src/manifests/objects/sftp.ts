// SFTP for files of worlds (docs/reference/sftp.md): an edge like the proxy, without the mesh, a database or the cluster.

import { choose, equals, not, type Template, text, when } from "../template/expression.ts";
import { externalUrl, internalUrl } from "./addresses.ts";
import { healthVariables, type ObjectFile, scratch, sftpPort, type V } from "./common.ts";
import { edgeObjects, secretFile } from "./edge.ts";

export function sftpFile(v: V): ObjectFile {
  const { enabled, serviceType } = v.sftp;
  const objects = edgeObjects(v, {
    name: "sftp",
    values: v.sftp,
    port: { name: "sftp", number: sftpPort },
    externalTrafficPolicy: when(not(equals(serviceType, "ClusterIP")), "Local"),
    graceSeconds: 30,
    program: "services/sftp/src/main.ts",
    env: environment(v),
    mounts: [
      secretFile(v.secrets.tokens, { key: "sftp", at: "token" }),
      secretFile(v.secrets.sftp, { key: "host_key", at: "host-key" }),
      // What is being transferred: as much as SVC_SFTP_SPOOL_BYTES, and some room.
      scratch("spool", "/spool", "9Gi"),
    ],
  });
  return {
    file: "sftp.yaml",
    about: "SFTP for files of worlds, where it is switched on.",
    objects: objects.map((object) => when(enabled, object)),
  };
}

function environment(v: V): Template[] {
  const { host, port } = v.sftp;
  return [
    { name: "SVC_API_BASE_URL", value: internalUrl(v) },
    { name: "SVC_EXTERNAL_URL", value: externalUrl(v) },
    { name: "SVC_SERVICE_TOKEN_FILE", value: "/token/token" },
    { name: "SVC_SFTP_HOST", value: "0.0.0.0" },
    { name: "SVC_SFTP_PORT", value: String(sftpPort) },
    { name: "SVC_SFTP_PUBLIC_HOST", value: choose(host, host, text`sftp.${v.rootDomain}`) },
    { name: "SVC_SFTP_PUBLIC_PORT", value: text`${port}` },
    { name: "SVC_SFTP_HOST_KEY_FILE", value: "/host-key/host-key" },
    { name: "SVC_SFTP_DIR", value: "/spool" },
    ...healthVariables,
  ];
}
