export { startBot } from "./testing/bot.ts";
export { createTestClock } from "./testing/clock.ts";
export {
  type Front,
  type FrontPlayer,
  type Join,
  type Joined,
  join,
  kickOf,
  startFront,
  until,
} from "./testing/front.ts";
export { type SessionServerForTests, startSessionServer } from "./testing/session-server.ts";
