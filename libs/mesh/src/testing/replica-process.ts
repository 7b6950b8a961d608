// A replica in a process of its own, for tests that kill or stop it.

import { createLogger } from "@svc/telemetry";
import { connectMesh } from "../connect.ts";
import { change, changeOnce, read } from "./contracts.ts";

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
mesh.serve(read, answer);
mesh.serve(changeOnce, answer);
mesh.serve(change, (_, input) => {
  process.stdout.write(`change ${input.n}\n`);
  return answer();
});
await mesh.announce();
process.stdout.write("ready\n");
