// What the gateway wrote into the document about the host that serves it.

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

/** The operator console, or the players' panel. */
export const host: "player" | "operator" = metaOf("svc-host") === "operator" ? "operator" : "player";

const port = location.port === "" ? "" : `:${location.port}`;

/** Origin of the other of the two hosts. */
export const otherOrigin = `${location.protocol}//${metaOf(host === "operator" ? "svc-panel-host" : "svc-admin-host")}${port}`;

/** Domain below which servers have their addresses. */
export const rootDomain = metaOf("svc-root-domain");
