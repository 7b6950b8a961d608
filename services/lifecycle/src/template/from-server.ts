// The settings of a template that is made from a server (docs/reference/server-templates.md#from-server). Pure.

import type { MinecraftServerSpec, serverTemplates } from "@svc/proto";
import { cloneSpec } from "../clone/spec.ts";
import { present } from "../server/new-spec.ts";

/**
 * What a clone would take over, in the words of a template. The image loses its digest, and the heap, the program and the
 * fallback are left to the creation, which sets them anew.
 */
export function settingsOf(source: MinecraftServerSpec): serverTemplates.TemplateSettings {
  const spec = cloneSpec(source, { name: "template", subdomain: "template" });
  const { image, autostartPolicy, description, javaFlags, args, onlineMode, motd, startup, restart, tags } =
    spec;
  const { limits, requests } = spec.resources ?? {};
  const memoryRequest = requests?.["memory"] === limits?.["memory"] ? undefined : requests?.["memory"];
  const resources = present({ cpu: limits?.["cpu"], cpuRequest: requests?.["cpu"], memoryRequest });
  const { autoStopEnabled, emptySecondsBeforeStop = 0 } = spec.idle ?? {};
  return present({
    image: image.split("@", 1)[0] ?? image,
    memory: limits?.["memory"],
    storage: spec.storage?.size,
    storageClassName: spec.storage?.storageClassName,
    resources: Object.keys(resources).length > 0 ? resources : undefined,
    autostartPolicy,
    idleStopSeconds: autoStopEnabled ? Math.min(86_400, Math.max(60, emptySecondsBeforeStop)) : 0,
    ...{ description, javaFlags, args, onlineMode, motd, startup, restart, tags },
    terminationGracePeriodSeconds: spec.lifecycle?.terminationGracePeriodSeconds,
  });
}
