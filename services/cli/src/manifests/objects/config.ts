// svc.toml, one for all services: each reads its own sections (docs/reference/settings.md).

import {
  choose,
  digest,
  json,
  type Ref,
  type Shared,
  shared,
  text,
  type When,
  when,
} from "../template/expression.ts";
import { internalUrl, registryUrl } from "./addresses.ts";
import { head, type Mount, type ObjectFile, type V } from "./common.ts";

const name = "svc-config";

export function settingsText(v: V): Shared {
  const q = json;
  const { smtp, images } = v;
  const content = text`[server]
root_domain = ${q(v.rootDomain)}

[auth]
client_ip_header = ${q(v.clientIpHeader)}

[k8s]
namespace = ${q(v.namespaces.game)}

[smtp]
host = ${q(smtp.host)}
port = ${q(smtp.port)}
from = ${q(smtp.from)}
username = ${q(smtp.username)}

[panel]
dir = "/opt/svc/panel"

[lifecycle]
platform_image = ${q(images.agents)}
forwarding_master_file = "/forwarding/masters"
${choose(v.game.defaultImage, text`default_image = ${q(v.game.defaultImage)}`, "# default_image is not set")}

[archive]
local_path = "/archive"

[storage]
agent_image = ${q(images.agents)}
agent_command = ["node", "services/world-agent/src/main.ts"]
archive_claim = "svc-archive"
staging_path = "/uploads/.file-staging"
internal_url = ${q(internalUrl(v))}

[registry]
url = ${q(registryUrl(v))}
plain_http = ${choose(v.registry.enabled, "true", "false")}
build_namespace = ${q(v.namespaces.build)}
user_uploads_context = "/uploads/contexts"

[builds]
recommended = ${q(v.game.recommendedImages)}
agent_image = ${q(images.agents)}
agent_command = ["node", "services/build-agent/src/main.ts"]
builder = ${q(images.builder)}
builder_command = ["node", "services/build-agent/src/main.ts"]
scanner = ${q(images.scanner)}
scanner_command = ["node", "services/build-agent/src/main.ts"]
internal_url = ${q(internalUrl(v))}

${v.extraConfig}
`;
  return shared("svc.config", content);
}

/** A pod with this annotation is replaced when the settings change. */
export function configAnnotations(v: V) {
  return {
    "svc.internal/config-digest": digest(text`${settingsText(v)}${json(v.settings)}${v.authorities}`),
  };
}

export const configMount: Mount = {
  name: "config",
  at: "/config",
  from: { configMap: { name } },
  readOnly: true,
};

const authoritiesFile = "authorities.pem";

/** Node reads that file when a process starts, and trusts it beside the public authorities. */
export function authoritiesVariable(v: V): When {
  return when(v.authorities, { name: "NODE_EXTRA_CA_CERTS", value: `/config/${authoritiesFile}` });
}

/** The password of the relay, for those who send mail. */
export function smtpVariables(secret: Ref<string>) {
  return { name: "SVC_SMTP_PASSWORD", valueFrom: { secretKeyRef: { name: secret, key: "password" } } };
}

export function configFile(v: V): ObjectFile {
  return {
    file: "config.yaml",
    about: "Settings of all services.",
    objects: [
      {
        ...head({ apiVersion: "v1", kind: "ConfigMap", name, namespace: v.namespaces.control }),
        data: { "svc.toml": settingsText(v), [authoritiesFile]: when(v.authorities, v.authorities) },
      },
    ],
  };
}
