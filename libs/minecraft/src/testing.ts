export { startBot } from "./testing/bot.ts";
export { sampleOf } from "./testing/sample.ts";
export { type SessionServerForTests, startSessionServer } from "./testing/session-server.ts";
