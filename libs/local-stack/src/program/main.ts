// Bundles the programs of the stack: main.ts CHECKOUT

import { buildPrograms } from "./bundle.ts";
import { programSources } from "./sources.ts";

const [repo] = process.argv.slice(2);
if (!repo) throw new Error("usage: main.ts CHECKOUT");
const started = performance.now();
const folder = await buildPrograms({ repo, sources: programSources });
console.log(`${folder} (${Math.round(performance.now() - started)} ms)`);
