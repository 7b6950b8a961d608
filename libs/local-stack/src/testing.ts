export { measureSlowness, patience } from "./testing/patience.ts";
