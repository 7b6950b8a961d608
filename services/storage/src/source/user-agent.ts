/** What this service says of itself to hosts outside. */
export const userAgent = "svc-storage (Minecraft server platform)";
