export { startMemoryRegistry } from "./testing/memory-registry.ts";
export { findBinary, startTestRegistry, type TestRegistry } from "./testing/registry.ts";
