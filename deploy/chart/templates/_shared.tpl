{{- define "svc.config" -}}
[server]
root_domain = {{ toJson .Values.rootDomain }}

[auth]
client_ip_header = {{ toJson .Values.clientIpHeader }}

[k8s]
namespace = {{ toJson .Values.namespaces.game }}

[smtp]
host = {{ toJson .Values.smtp.host }}
port = {{ toJson .Values.smtp.port }}
from = {{ toJson .Values.smtp.from }}
username = {{ toJson .Values.smtp.username }}

[panel]
dir = "/opt/svc/panel"

[lifecycle]
platform_image = {{ toJson .Values.images.agents }}
forwarding_master_file = "/forwarding/masters"
{{ (ternary (printf "default_image = %v" (toJson .Values.game.defaultImage)) "# default_image is not set" (not (not .Values.game.defaultImage))) | nindent 0 | trim }}

[archive]
local_path = "/archive"

[storage]
agent_image = {{ toJson .Values.images.agents }}
agent_command = ["node", "services/world-agent/src/main.ts"]
archive_claim = "svc-archive"
staging_path = "/uploads/.file-staging"
internal_url = {{ toJson (printf "http://%v:8081" (printf "gateway-internal.%v.svc.cluster.local" .Values.namespaces.control)) }}

[registry]
url = {{ toJson (ternary (printf "%v:5000" (printf "registry.%v.svc.cluster.local" .Values.namespaces.control)) .Values.registry.url (not (not .Values.registry.enabled))) }}
plain_http = {{ (ternary "true" "false" (not (not .Values.registry.enabled))) | nindent 0 | trim }}
build_namespace = {{ toJson .Values.namespaces.build }}
user_uploads_context = "/uploads/contexts"

[builds]
recommended = {{ toJson .Values.game.recommendedImages }}
agent_image = {{ toJson .Values.images.agents }}
agent_command = ["node", "services/build-agent/src/main.ts"]
builder = {{ toJson .Values.images.builder }}
builder_command = ["node", "services/build-agent/src/main.ts"]
scanner = {{ toJson .Values.images.scanner }}
scanner_command = ["node", "services/build-agent/src/main.ts"]
internal_url = {{ toJson (printf "http://%v:8081" (printf "gateway-internal.%v.svc.cluster.local" .Values.namespaces.control)) }}

{{ .Values.extraConfig | nindent 0 | trim }}
{{- end -}}
