export { measureSlowness, patience } from "./testing/patience.ts";
export { createRandom, createRandomIntegers } from "./testing/random.ts";
export { until } from "./testing/until.ts";
