// Who calls: services by name, the hosts of a face, the holders of tokens.

/** The services that own something; gateways own nothing. */
export const owners = ["lifecycle", "storage", "builds", "identity", "ops-watchdog"] as const;
export type Owner = (typeof owners)[number];
export const gateways = ["gateway-internal", "gateway-external"] as const;
export type Gateway = (typeof gateways)[number];
export type ServiceName = Owner | Gateway;
/** Who may make a request: a service, or the person at the host with the command line. */
export type Caller = ServiceName | "operator";

/** The hosts of the external face: the operator console, and the players' panel, which every other name counts as. */
export const faceHosts = ["player", "operator"] as const;
export type FaceHost = (typeof faceHosts)[number];

/** Holders of a service token on the internal face (docs/reference/http.md#service-tokens). */
export const callerTokens = ["velocity", "limbo", "build", "ops", "sftp"] as const;
export type CallerToken = (typeof callerTokens)[number];
