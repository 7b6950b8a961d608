export { measureSlowness, patience } from "./testing/patience.ts";
export { createRandom, createRandomIntegers } from "./testing/random.ts";
export { settleAll } from "./testing/settle-all.ts";
export { until } from "./testing/until.ts";
