import { accessCases } from "./access.ts";
import { builtinCases } from "./builtin.ts";
import { concurrencyCases } from "./concurrency.ts";
import { customCases } from "./custom.ts";
import { lifecycleCases } from "./lifecycle.ts";
import { patchingCases } from "./patching.ts";
import { readingCases } from "./reading.ts";
import { recoveryCases } from "./recovery.ts";
import { shippedRoleCases } from "./shipped-roles.ts";
import type { Case } from "./test-context.ts";
import { volumeCases } from "./volumes.ts";
import { watchingCases } from "./watching.ts";
import { workloadCases } from "./workloads.ts";
import { writingCases } from "./writing.ts";

/** Everything that svc relies on in a Kubernetes API, true of a real server and of the embedded one. */
export const conformanceCases: Case[] = [
  ...readingCases,
  ...watchingCases,
  ...writingCases,
  ...builtinCases,
  ...patchingCases,
  ...customCases,
  ...lifecycleCases,
  ...accessCases,
  ...shippedRoleCases,
  ...workloadCases,
  ...recoveryCases,
  ...volumeCases,
  ...concurrencyCases,
];
