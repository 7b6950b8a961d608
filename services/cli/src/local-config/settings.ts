import { dirname, join } from "node:path";
import type { StackFacts } from "@svc/local-stack";
import { baseImages } from "@svc/proto";
import { agentImage, buildImage, demoImage, demoImages } from "./image-table.ts";

const packBases = baseImages.demoServerImages.map(
  ({ repository, tag }) => `vanilla/${tag}=${repository}:${tag}`,
);

/** Values for the file, known to a local stack and to compose.yaml. */
type LocalFacts = Pick<
  StackFacts,
  | "rootDomain"
  | "panelHost"
  | "adminHost"
  | "externalBaseUrl"
  | "smtp"
  | "setupUrlFile"
  | "archiveDir"
  | "internalBaseUrl"
  | "forwardingMasterFile"
  | "panelDir"
  | "registryHost"
>;

/** Text of `svc.toml` for a stack on one machine (docs/reference/settings.md): its own hosts over http, mail to the sink. */
export function localConfig(facts: LocalFacts, { takesNames = false } = {}): string {
  const port = new URL(facts.externalBaseUrl).port;
  const origins = [facts.panelHost, facts.adminHost].map((host) => `http://${host}:${port}`);
  return `# Written by svc up at every start; use --set section.key=value to change something.
[server]
root_domain = ${quote(facts.rootDomain)}

[auth]
admin_hostname = ${quote(facts.adminHost)}
panel_hostname = ${quote(facts.panelHost)}
extra_origins = [${origins.map(quote).join(", ")}]

[k8s]
namespace = "minecraft"

[smtp]
host = ${quote(facts.smtp.host)}
port = ${facts.smtp.port}
from = ${quote(`svc@${facts.rootDomain}`)}

[identity]
setup_url_file = ${quote(facts.setupUrlFile)}

[registry]
url = ${quote(facts.registryHost ?? "")}
# The scanner has no database of vulnerabilities here, and secrets are found without one.
scan_db = "optional"
# Its pods are processes of this machine.
build_user_namespaces = "off"
user_uploads_context = ${quote(join(dirname(facts.archiveDir), "contexts"))}

[builds]
recommended = [${demoImages.map(quote).join(", ")}]
agent_image = ${quote(buildImage)}
scanner = ${quote(buildImage)}
internal_url = ${quote(facts.internalBaseUrl)}
# This cluster has no network policies.
egress_gate = false
pack_bases = [${packBases.map(quote).join(", ")}]

[lifecycle]
default_image = ${quote(demoImage)}
forwarding_master_file = ${quote(facts.forwardingMasterFile ?? "")}

[panel]
dir = ${quote(facts.panelDir)}

[archive]
local_path = ${quote(facts.archiveDir)}

[storage]
agent_image = ${quote(agentImage)}
internal_url = ${quote(facts.internalBaseUrl)}
staging_path = ${quote(join(dirname(facts.archiveDir), "uploads", ".file-staging"))}
# Two cores may have to do: backups then take turns with players.
job_cpu = "250m"
job_memory = "512Mi"

[offsite]
state_dir = ${quote(join(dirname(facts.archiveDir), "offsite"))}
key_file = ${quote(join(dirname(facts.archiveDir), "offsite-keys"))}

[ops_watchdog]
bundle_dir = ${quote(join(dirname(facts.archiveDir), "db-backups"))}
wal_dir = ${quote(join(dirname(facts.archiveDir), "wal"))}
state_dir = ${quote(join(dirname(facts.archiveDir), "watchdog"))}
watched_dirs = [${quote(facts.archiveDir)}]
processes_file = ${quote(join(dirname(facts.archiveDir), "stack.json"))}
${takesNames ? localPlayers : ""}`;
}

const localPlayers = `
# Players whose names the proxy of this machine does not verify.
[[auth_source]]
kind = "local"
tag = "local"
`;

function quote(text: string): string {
  return JSON.stringify(text);
}
