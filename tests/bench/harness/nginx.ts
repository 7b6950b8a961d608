// nginx as an anchor: a file taken with PUT, a file given out with sendfile. It is not part of svc; where it is not
// installed (`apt-get install nginx-light`) its rows are left out, and that is said.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import { request } from "undici";

export type Nginx = { url: string; pid: number; stop: () => Promise<void> };

const programs = ["nginx", "/usr/sbin/nginx"];

/** Serves `base` under `/`; undefined when there is no nginx that takes PUT. */
export async function startNginx(base: string): Promise<Nginx | undefined> {
  const program = programs.find((one) =>
    /http_dav_module/.test(spawnSync(one, ["-V"]).stderr?.toString() ?? ""),
  );
  if (!program) return undefined;
  const port = await freePort();
  const own = join(base, "nginx");
  await mkdir(own, { recursive: true });
  await writeFile(join(own, "nginx.conf"), config({ own, base, port }));
  const child = spawn(program, ["-p", own, "-c", join(own, "nginx.conf"), "-e", "stderr"], {
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await until(() => isUp(child, url), 10_000, "nginx");
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function isUp(child: ChildProcess, url: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  const reached = await request(`${url}/none`).catch(() => undefined);
  await reached?.body.dump();
  return reached !== undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

// Root would have its workers change to another user, who may not write here.
function config({ own, base, port }: { own: string; base: string; port: number }): string {
  return `daemon off; worker_processes 2; pid ${own}/pid; error_log stderr error;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on; default_type application/octet-stream;
  client_body_temp_path ${own}/body; proxy_temp_path ${own}/proxy; fastcgi_temp_path ${own}/fastcgi;
  uwsgi_temp_path ${own}/uwsgi; scgi_temp_path ${own}/scgi;
  server {
    listen 127.0.0.1:${port}; root ${base};
    location / { dav_methods PUT; client_max_body_size 0; client_body_buffer_size 1m; }
  }
}
`;
}
