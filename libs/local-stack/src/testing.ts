export { measureSlowness, patience } from "./testing/patience.ts";
export { until } from "./testing/until.ts";
