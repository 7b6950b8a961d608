// What tests of other packages use of this one.

export { createRandomIntegers, patience, settleAll, until } from "@svc/local-stack/testing";
export { account, faultOf, ops, retryAfterOf, staff, tokenOf, velocity } from "./testing/callers.ts";
export { startTestNats, type TestNats } from "./testing/test-nats.ts";
