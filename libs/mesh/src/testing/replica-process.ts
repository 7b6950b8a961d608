// A replica of its own process for the tests: it is killed or stopped while it works.

import { createLogger } from "@svc/telemetry";
import { connectMesh } from "../connect.ts";
import { change, look, once } from "./contracts.ts";

const [url = "", password = "", name = ""] = process.argv.slice(2);

const mesh = await connectMesh({
  service: "lifecycle",
  url,
  user: "lifecycle",
  password,
  log: createLogger("lifecycle", "silent"),
  version: "0.0.1",
});
const answer = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  return { n: Number(name) };
};
mesh.serve(look, answer);
mesh.serve(once, answer);
mesh.serve(change, (_, input) => {
  process.stdout.write(`change ${input.n}\n`);
  return answer();
});
await mesh.announce();
process.stdout.write("ready\n");
