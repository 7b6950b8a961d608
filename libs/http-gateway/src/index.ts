// The HTTP side of a gateway: everything that holds for every operation, and no operation itself.

export { normalHost } from "./access/host.ts";
export { openServiceTokens } from "./access/service-tokens.ts";
export { createSessions } from "./access/sessions.ts";
export { createFace, type FaceServer, type Site, type SiteAnswer } from "./face.ts";
export { gatewaySection, limitsOf } from "./gateway-section.ts";
export { type ListenAddress, parseListen } from "./listen-address.ts";
export { takesEncoding } from "./response/compression.ts";
