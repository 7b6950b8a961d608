// Which component shows which route. Sign-in is part of the first load, the others come when needed.

import type { ComponentType } from "react";
import { SignInPage } from "../sign-in/page.tsx";
import type { RoutePath } from "./routes.ts";

export const pages: Record<
  RoutePath,
  { component: ComponentType } | { load: () => Promise<{ Page: ComponentType }> }
> = {
  "/login": { component: SignInPage },
  "/login/oidc/:provider": { load: () => import("../sign-in/provider-page.tsx") },
  "/setup": { load: () => import("../sign-in/setup-page.tsx") },
  "/": { load: () => import("../dashboard/dashboard-page.tsx") },
  "/servers": { load: () => import("../fleet/servers-page.tsx") },
  "/servers/new": { load: () => import("../create/create-page.tsx") },
  "/servers/:name": { load: () => import("../server/overview-page.tsx") },
  "/servers/:name/backups": { load: () => import("../backups/backups-page.tsx") },
  "/servers/:name/files": { load: () => import("../files/files-page.tsx") },
  "/servers/:name/plugins": { load: () => import("../plugins/plugins-page.tsx") },
  "/servers/:name/players": { load: () => import("../players/players-page.tsx") },
  "/servers/:name/luckperms": { load: () => import("../luck-perms/luck-perms-page.tsx") },
  "/servers/:name/history": { load: () => import("../history/history-page.tsx") },
  "/servers/:name/activity": { load: () => import("../activity/activity-page.tsx") },
  "/servers/:name/access": { load: () => import("../sharing/sharing-page.tsx") },
  "/servers/:name/webhooks": { load: () => import("../webhooks/webhooks-page.tsx") },
  "/servers/:name/settings": { load: () => import("../settings/settings-page.tsx") },
  "/admin": { load: () => import("../admin/admin-page.tsx") },
  "/admin/health": { load: () => import("../admin/health/health-page.tsx") },
  "/admin/updates": { load: () => import("../admin/updates/updates-page.tsx") },
  "/admin/announcements": { load: () => import("../admin/announcements/announcements-page.tsx") },
  "/admin/webhooks": { load: () => import("../admin/webhooks/webhooks-page.tsx") },
  "/admin/templates": { load: () => import("../admin/templates/templates-page.tsx") },
  "/admin/nodes": { load: () => import("../admin/nodes/nodes-page.tsx") },
  "/admin/images": { load: () => import("../admin/images/images-page.tsx") },
  "/players": { load: () => import("../known-players/list-page.tsx") },
  "/players/:id": { load: () => import("../known-players/player-page.tsx") },
  "/groups": { load: () => import("../groups/groups-page.tsx") },
  "/submissions": { load: () => import("../submissions/submissions-page.tsx") },
  "/admin/submissions": { load: () => import("../admin/submissions/submissions-page.tsx") },
  "/admin/submissions/:id": { load: () => import("../admin/submissions/review-page.tsx") },
  "/admin/builds": { load: () => import("../admin/builds/builds-page.tsx") },
  "/admin/builds/:id": { load: () => import("../admin/builds/build-page.tsx") },
  "/admin/settings": { load: () => import("../admin/settings/settings-page.tsx") },
  "/admin/users": { load: () => import("../admin/users/users-page.tsx") },
  "/admin/users/:id": { load: () => import("../admin/users/user-page.tsx") },
  "/admin/audit": { load: () => import("../admin/audit/audit-page.tsx") },
  "/servers/:name/schedules": { load: () => import("../schedules/schedules-page.tsx") },
  "/account": { load: () => import("../account/account-page.tsx") },
  "/invitations": { load: () => import("../sharing/invitation-page.tsx") },
  "/status": { load: () => import("../status-page/overview-page.tsx") },
  "/status/:subdomain": { load: () => import("../status-page/server-page.tsx") },
  "/cli": { load: () => import("../account/cli-login-page.tsx") },
};
