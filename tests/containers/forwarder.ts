// The way out of a network that has none: a forward proxy on a socket, for package managers in the steps of an image.

import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { connect } from "node:net";

/** Listens at the path of a socket; connects to whatever it is asked for, with `CONNECT` or an absolute URL. */
export async function startForwarder(path: string): Promise<Server> {
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? "");
    const onward = request(url, { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  });
  server.on("connect", ({ url = "" }, client) => {
    const [host = "", port] = url.split(":");
    const onward = connect({ host, port: Number(port) }, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      client.pipe(onward).pipe(client);
    });
    onward.on("error", () => client.destroy());
    client.on("error", () => onward.destroy());
  });
  server.listen(path);
  await once(server, "listening");
  return server;
}
