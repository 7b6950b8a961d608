import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { defaultCacheDirs } from "@svc/local-stack";

/**
 * Which builder and which scanner the steps of a build use on this machine (docs/reference/builds.md#builders). Variables of
 * the same names come first. Trivy is fetched by the first scan, so a stack that never builds downloads nothing.
 */
export function buildEnvironment(env: NodeJS.ProcessEnv, repo: string): Record<string, string> {
  const [cache = ""] = defaultCacheDirs(env, repo);
  const trivy = join(repo, "libs/local-stack/src/trivy/main.ts");
  // As any user other than root, buildah needs what most machines do not allow.
  const canBuildah = process.getuid?.() === 0 && isOnPath(env, "buildah");
  return {
    SVC_BUILDER: env["SVC_BUILDER"] || (canBuildah ? "buildah" : "assemble"),
    SVC_TRIVY:
      env["SVC_TRIVY"] ||
      JSON.stringify(["env", ...networkOf(env), process.execPath, trivy, env["HOME"] ?? "/", cache]),
    ...(env["SVC_TRIVY_DB"] && { SVC_TRIVY_DB: env["SVC_TRIVY_DB"] }),
  };
}

// A step has the variables of its container alone; without these npm reaches no registry behind a proxy or another CA.
const networkVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  ...["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"],
];

function networkOf(env: NodeJS.ProcessEnv): string[] {
  return networkVariables.flatMap((name) => (env[name] ? [`${name}=${env[name]}`] : []));
}

function isOnPath(env: NodeJS.ProcessEnv, name: string): boolean {
  return (env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder.startsWith("/");
    } catch {
      return false;
    }
  });
}
