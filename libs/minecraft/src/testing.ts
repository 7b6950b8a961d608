export { until } from "@svc/local-stack/testing";
export { startBot } from "./testing/bot.ts";
export { createTestClock } from "./testing/clock.ts";
export { join, kickOf, startFront } from "./testing/front.ts";
export { type SessionServerForTests, startSessionServer } from "./testing/session-server.ts";
export { waitForSurroundings } from "./testing/surroundings.ts";
