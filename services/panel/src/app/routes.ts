// Every address of the panel. The build hands this list to the gateway, which answers other addresses with 404.
// A page is a row here, a line in pages.ts and a folder with its page.tsx.

/** Who may open a page. Staff pages exist on the operator console only. */
type Access = "anyone" | "session" | "staff" | "owner";

export type Route = {
  path: string;
  access: Access;
  /** Set for pages that only the operator console has. */
  host?: "operator";
};

export const routes = [
  { path: "/login", access: "anyone" },
  { path: "/login/oidc/:provider", access: "anyone" },
  { path: "/setup", access: "anyone" },
  { path: "/", access: "session" },
  { path: "/servers", access: "session" },
  { path: "/servers/new", access: "session" },
  { path: "/servers/:name", access: "session" },
  { path: "/servers/:name/backups", access: "session" },
  { path: "/servers/:name/files", access: "session" },
  { path: "/servers/:name/plugins", access: "session" },
  { path: "/servers/:name/players", access: "session" },
  { path: "/servers/:name/schedules", access: "session" },
  { path: "/servers/:name/luckperms", access: "session" },
  { path: "/servers/:name/history", access: "session" },
  { path: "/servers/:name/activity", access: "session" },
  { path: "/servers/:name/settings", access: "session" },
  { path: "/servers/:name/access", access: "session" },
  { path: "/servers/:name/webhooks", access: "session" },
  { path: "/players", access: "session" },
  { path: "/players/:id", access: "session" },
  { path: "/groups", access: "session" },
  { path: "/submissions", access: "session" },
  { path: "/account", access: "session" },
  { path: "/cli", access: "session" },
  { path: "/invitations", access: "anyone" },
  { path: "/status", access: "anyone" },
  { path: "/status/:subdomain", access: "anyone" },
  { path: "/admin", access: "staff", host: "operator" },
  { path: "/admin/health", access: "staff", host: "operator" },
  { path: "/admin/updates", access: "staff", host: "operator" },
  { path: "/admin/announcements", access: "staff", host: "operator" },
  { path: "/admin/webhooks", access: "staff", host: "operator" },
  { path: "/admin/templates", access: "staff", host: "operator" },
  { path: "/admin/nodes", access: "staff", host: "operator" },
  { path: "/admin/images", access: "staff", host: "operator" },
  { path: "/admin/submissions", access: "staff", host: "operator" },
  { path: "/admin/submissions/:id", access: "staff", host: "operator" },
  { path: "/admin/builds", access: "staff", host: "operator" },
  { path: "/admin/builds/:id", access: "staff", host: "operator" },
  { path: "/admin/settings", access: "owner", host: "operator" },
  { path: "/admin/users", access: "owner", host: "operator" },
  { path: "/admin/users/:id", access: "owner", host: "operator" },
  { path: "/admin/audit", access: "owner", host: "operator" },
] as const satisfies readonly Route[];

export type RoutePath = (typeof routes)[number]["path"];

/** Whether a path is one of a pattern, for `:name` any segment. A trailing slash does not count. */
function matchesPath(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern, path].map((text) => text.replace(/(?<=.)\/$/, "").split("/"));
  if (wanted?.length !== given?.length) return false;
  return (wanted ?? []).every((part, at) =>
    part.startsWith(":") ? given?.[at] !== "" : part === given?.[at],
  );
}

/** The route that serves a path; one without parameters comes before one with. */
export function findRoute(path: string): Route | undefined {
  const matching = (routes as readonly Route[]).filter((route) => matchesPath(route.path, path));
  return matching.find((route) => !route.path.includes(":")) ?? matching[0];
}
