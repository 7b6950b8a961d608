export { isPlainAddress, wireAddress } from "./address.ts";
export { type RelaySettings, relaySettings } from "./config.ts";
export { createSmtpConnection } from "./connection.ts";
export { createRelay, type Message, type OpenRelay, type Relay } from "./relay.ts";
export { smtpSection } from "./smtp-section.ts";
