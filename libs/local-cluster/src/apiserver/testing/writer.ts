import { createApiServer } from "../server.ts";
import { CONFIG_MAPS, configMap } from "./harness.ts";

// Writes endlessly and prints each name once its write is acknowledged; the durability test kills it.
const server = createApiServer({
  dataFile: process.argv[2] ?? "",
  tokens: [],
  podLogs: { read: async function* () {} },
});
for (let index = 0; ; index += 1) {
  const { metadata } = server.api.create(CONFIG_MAPS, configMap(`n-${index}`, { index: String(index) }));
  process.stdout.write(`${metadata.name} ${metadata.resourceVersion} ${metadata.uid}\n`);
  if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
}
