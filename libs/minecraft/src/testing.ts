export { startBot } from "./testing/bot.ts";
export { type SessionServerForTests, startSessionServer } from "./testing/session-server.ts";
