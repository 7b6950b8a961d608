// Compares the contracts with the list of operations, both ways (docs/reference/data.md#leases).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type HttpBinding, operations, pathsOf, processOperations } from "@svc/proto";

type Listed = {
  method: string;
  path: string;
  faces: string[];
  tier: string;
  callers: string[];
  setup_allowed: boolean;
  rate_limited: boolean;
};

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const listed = read("operations.json") as Listed[];

/** Operations that we serve beyond the list, and why. */
const additions: Readonly<Record<string, string>> = {
  "GET /session/minecraft/hasJoined":
    "docs/reference/session-verifier.md#answers: the path that a stock proxy asks",
  "POST /api/v1/auth/password": "docs/reference/sign-in.md#doors: sign-in by local password",
  "POST /api/v1/internal/account/link/statuses":
    "docs/reference/login-gate.md#states: all players of a gate in one call a second",
  "POST /api/v1/internal/player/standings":
    "ours: a bar, and the end of an account, reach players who are on",
  "POST /api/v1/internal/proxies/{proxy}/players": "ours: who plays where, over all proxies",
  "GET /api/v1/internal/players": "ours: who plays where, over all proxies",
  "GET /api/v1/players": "ours: who plays where, over all proxies",
  "POST /api/v1/internal/players/{mc_uuid}/invitations": "ours: an invitation to a player of another proxy",
  "POST /api/v1/internal/servers/{name}/leave-event": "ours: who played, and until when",
  "GET /api/v1/audit": "docs/reference/audit.md#search: reading the audit log",
  "POST /api/v1/auth/cli-login/start":
    "docs/reference/sign-in.md#cli-login: the command line signs in by browser",
  "POST /api/v1/auth/cli-login/finish": "docs/reference/sign-in.md#cli-login: its session",
  "GET /api/v1/backups/{id}/changes": "docs/reference/backups.md#changes: comparing two backups",
  "POST /api/v1/servers/{name}/restore-plan": "docs/reference/restore.md#plan: what a restore would change",
  "GET /api/v1/account/cli-login/{code}": "docs/reference/sign-in.md#cli-login: what is to be approved",
  "POST /api/v1/account/cli-login/{code}": "docs/reference/sign-in.md#cli-login: the approval",
  "GET /api/v1/auth/oidc/providers": "docs/reference/sign-in.md#oidc: the providers of the installation",
  "POST /api/v1/auth/oidc/begin": "docs/reference/sign-in.md#oidc: sign-in with a provider",
  "POST /api/v1/auth/oidc/finish": "docs/reference/sign-in.md#oidc: its session",
  "GET /api/v1/account/oidc": "docs/reference/sign-in.md#oidc-link: one's own identities",
  "POST /api/v1/account/oidc/begin": "docs/reference/sign-in.md#oidc-link: another identity",
  "POST /api/v1/account/oidc/finish": "docs/reference/sign-in.md#oidc-link: it is linked",
  "DELETE /api/v1/account/oidc/{id}": "docs/reference/sign-in.md#oidc-link: it is unlinked",
  "GET /api/v1/platform/offsite": "docs/reference/off-site.md#status: the state of off-site copies",
  "GET /api/v1/settings": "docs/reference/audit.md#search: platform settings",
  "PUT /api/v1/settings": "docs/reference/audit.md#search: platform settings",
  "PUT /api/v1/internal/archives/{id}":
    "docs/reference/moves.md#steps: a Job on another node sends an archive",
  "GET /api/v1/internal/archives/{id}":
    "docs/reference/moves.md#steps: a Job on another node fetches an archive",
  "GET /api/v1/nodes/room": "docs/reference/moves.md#room: where there is room for a server",
  "POST /api/v1/nodes/{name}/cordon": "docs/reference/moves.md#cordon: a node is kept free",
  "POST /api/v1/nodes/{name}/uncordon": "docs/reference/moves.md#cordon: and used again",
  "POST /api/v1/nodes/{name}/place-unstarted":
    "docs/reference/moves.md#unstarted: a drain leaves no server behind that has no world",
  "GET /api/v1/migrations": "docs/reference/moves.md#begin: moves of all servers",
  "POST /api/v1/servers/{name}/migrations/{id}/cancel": "ours: who moves a world must be able to give up",
  "PATCH /api/v1/me/servers/{name}": "docs/reference/claims.md#settings: owners change their servers",
  "GET /api/v1/servers/{name}/file/versions": "docs/reference/files.md#history: earlier versions of a file",
  "GET /api/v1/servers/{name}/file/versions/{id}": "docs/reference/files.md#history: one of them",
  "GET /api/v1/servers/{name}/plugins": "docs/reference/plugins.md#installed: plugins of a world",
  "GET /api/v1/servers/{name}/plugins/search":
    "docs/reference/plugins.md#catalogues: projects of a catalogue",
  "GET /api/v1/servers/{name}/plugins/versions":
    "docs/reference/plugins.md#catalogues: versions of a project",
  "GET /api/v1/servers/{name}/plugins/updates": "docs/reference/plugins.md#updates: newer versions",
  "POST /api/v1/servers/{name}/plugins/plan": "docs/reference/plugins.md#plan: what an installation changes",
  "POST /api/v1/servers/{name}/plugins/install": "docs/reference/plugins.md#install: an installation",
  "POST /api/v1/servers/{name}/plugins/remove": "docs/reference/plugins.md#remove: a removal",
  "POST /api/v1/servers/{name}/files/fetch": "docs/reference/files.md#fetch: a file from an allowed address",
  "POST /api/v1/servers/{name}/files/archive": "docs/reference/files.md#archive: a zip is made in the world",
  "GET /api/v1/servers/{name}/files/search": "docs/reference/files.md#search: a text in names and content",
  "GET /api/v1/servers/{name}/set-aside": "docs/reference/crashes.md#safe-start: what changed lately",
  "POST /api/v1/servers/{name}/set-aside": "docs/reference/crashes.md#safe-start: it is set aside",
  "POST /api/v1/servers/{name}/set-aside/{id}/put-back": "docs/reference/crashes.md#safe-start: and put back",
  "GET /api/v1/servers/{name}/members":
    "docs/reference/shared-access.md#operations: whom a server is shared with",
  "PUT /api/v1/servers/{name}/members/{id}":
    "docs/reference/shared-access.md#operations: a member's access is replaced",
  "DELETE /api/v1/servers/{name}/members/{id}":
    "docs/reference/shared-access.md#operations: a member's access ends",
  "POST /api/v1/servers/{name}/invitations": "docs/reference/shared-access.md#operations: others are invited",
  "DELETE /api/v1/servers/{name}/invitations/{id}":
    "docs/reference/shared-access.md#operations: an invitation is taken back",
  "GET /api/v1/me/servers/{name}/access":
    "docs/reference/shared-access.md#operations: own access to a server",
  "DELETE /api/v1/me/servers/{name}/access": "docs/reference/shared-access.md#operations: a member leaves",
  "GET /api/v1/me/invitations": "docs/reference/shared-access.md#operations: invitations to the caller",
  "POST /api/v1/me/invitations/look": "docs/reference/shared-access.md#operations: what an invitation offers",
  "POST /api/v1/me/invitations/accept":
    "docs/reference/shared-access.md#operations: an invitation is accepted",
  "POST /api/v1/me/invitations/decline":
    "docs/reference/shared-access.md#operations: an invitation is declined",
  "GET /api/v1/me/events": "docs/reference/events.md#stream: what changed, without polls",
  "GET /api/v1/me/quota": "docs/reference/claims.md#quota: own limits and use",
  "POST /api/v1/account/tokens": "docs/reference/api-tokens.md#token: a token for scripts",
  "GET /api/v1/account/tokens": "docs/reference/api-tokens.md#token: one's own tokens",
  "DELETE /api/v1/account/tokens/{id}": "docs/reference/api-tokens.md#token: its end",
  "POST /api/v1/account/ssh-keys": "docs/reference/sftp.md#keys: a key for SFTP",
  "GET /api/v1/account/ssh-keys": "docs/reference/sftp.md#keys: one's own keys",
  "DELETE /api/v1/account/ssh-keys/{id}": "docs/reference/sftp.md#keys: the end of one",
  "GET /api/v1/sftp": "docs/reference/sftp.md#endpoint: where SFTP is reached",
  "PUT /api/v1/internal/sftp/endpoint": "docs/reference/sftp.md#endpoint: it says so itself",
  "POST /api/v1/internal/sftp/sessions": "docs/reference/sftp.md#sign-in: a connection is let in",
  "DELETE /api/v1/internal/sftp/sessions/{id}": "docs/reference/sftp.md#session: and has ended",
  "GET /api/v1/me/token": "docs/reference/api-tokens.md#own: what a script may do with its token",
  "GET /api/v1/account/links": "docs/reference/links.md#own: one's own players",
  "DELETE /api/v1/account/links/{mc_uuid}": "docs/reference/links.md#own: unlinking a player",
  "GET /api/v1/servers/{name}/activity": "docs/reference/audit.md#activity: what was done to a server",
  "GET /api/v1/servers/{name}/history": "docs/reference/history.md#server: what a server did",
  "GET /api/v1/servers/{name}/crashes": "docs/reference/crashes.md#read: why a server ended",
  "GET /api/v1/servers/{name}/restart-policy": "docs/reference/crashes.md#policy: what svc does by itself",
  "PUT /api/v1/servers/{name}/restart-policy": "docs/reference/crashes.md#policy: what svc does by itself",
  "POST /api/v1/servers/{name}/clone": "docs/reference/clones.md#clone: another server like it",
  "GET /api/v1/servers/{name}/origin": "docs/reference/clones.md#world: where its world comes from",
  "POST /api/v1/servers/{name}/origin/retry": "docs/reference/clones.md#failed: once more",
  "PUT /api/v1/servers/{name}/tags": "docs/reference/server-resource.md#tags: words to find servers by",
  "POST /api/v1/servers/{name}/restart":
    "docs/reference/server-states.md#restart: one request that a closed tab does not interrupt",
  "GET /api/v1/servers/{name}/keep-awake": "docs/reference/server-states.md#keep-awake: its state and bounds",
  "PUT /api/v1/servers/{name}/keep-awake": "docs/reference/server-states.md#keep-awake: kept until a time",
  "DELETE /api/v1/servers/{name}/keep-awake": "docs/reference/server-states.md#keep-awake: its end",
  "GET /api/v1/servers/{name}/crashes/{id}": "docs/reference/crashes.md#read: why a server ended",
  "GET /api/v1/platform/history": "docs/reference/history.md#platform: what all servers did",
  "PATCH /api/v1/backups/{id}": "docs/reference/backups.md#pin: labels and pins of owners",
  "GET /api/v1/backups/{id}/files": "docs/reference/backups.md#browse: what a backup holds",
  "POST /api/v1/servers/{name}/drills": "docs/reference/backups.md#drill: owners prove their backups",
  "GET /api/v1/images/build/{id}/provenance":
    "docs/reference/builds.md#provenance: where an image comes from",
  "GET /api/v1/images/suggested": "docs/reference/images.md#versions: the version most players have",
  "POST /api/v1/internal/players/versions":
    "docs/reference/images.md#versions: with which versions they came",
  "GET /api/v1/images/outdated": "docs/reference/builds.md#bases: what a newer image could replace",
  "POST /api/v1/images/build/{id}/rebuild": "docs/reference/builds.md#bases: on what its bases are now",
  "GET /api/v1/images/flagged": "docs/reference/builds.md#rescan: images that would not be published today",
  "GET /api/v1/images/acceptances": "docs/reference/builds.md#acceptances: findings that are accepted",
  "POST /api/v1/images/acceptances": "docs/reference/builds.md#acceptances: with reason and expiry",
  "DELETE /api/v1/images/acceptances/{id}": "docs/reference/builds.md#acceptances: no longer",
  "POST /api/v1/images/build/{id}/retry": "docs/reference/builds.md#states: the same context once more",
  "PUT /api/v1/internal/builds/{id}/documents/{document}":
    "docs/reference/builds.md#documents: a Job sends the report and the SBOM",
  "GET /api/v1/submissions/{id}": "docs/reference/submissions.md#lists: one pack by its ID",
  "GET /api/v1/me/submissions/{id}": "docs/reference/submissions.md#lists: one's own pack by its ID",
  "GET /api/v1/submissions/{id}/pack": "docs/reference/submissions.md#packs: what a pack became",
  "GET /api/v1/me/submissions/{id}/pack": "docs/reference/submissions.md#packs: what one's own pack became",
  "GET /api/v1/submissions/{id}/context/entries": "docs/reference/submissions.md#review: what a pack holds",
  "GET /api/v1/submissions/{id}/context/file": "docs/reference/submissions.md#review: a file of a pack",
  "GET /api/v1/platform/alerts": "docs/reference/alerts.md#status: what the watchdog found",
  "GET /api/v1/platform/alerts/history": "docs/reference/alerts.md#history: what happened to alerts",
  "POST /api/v1/platform/alerts/silence": "docs/reference/alerts.md#silence: nothing is sent for some hours",
  "POST /api/v1/platform/alerts/silence/{id}/end": "docs/reference/alerts.md#silence: its end",
  "POST /api/v1/platform/alerts/acknowledge": "docs/reference/alerts.md#acknowledge: somebody works on it",
  "POST /api/v1/platform/alerts/test": "docs/reference/alerts.md#test: whether staff can be reached",
  ...Object.fromEntries(
    ["/api/v1/servers/{name}/webhooks", "/api/v1/platform/webhooks"].flatMap((path) =>
      [
        `GET ${path}`,
        `POST ${path}`,
        `PUT ${path}/{id}`,
        `DELETE ${path}/{id}`,
        `POST ${path}/{id}/rotate`,
        `POST ${path}/{id}/test`,
        `GET ${path}/{id}/deliveries`,
        `POST ${path}/{id}/deliveries/{delivery}/redeliver`,
      ].map((operation) => [
        operation,
        "docs/reference/webhooks.md#operations: what happens is told elsewhere",
      ]),
    ),
  ),
  "POST /api/v1/internal/proxies/{proxy}/visits": "docs/reference/players.md#visits: how long players stay",
  "GET /api/v1/players/known": "docs/reference/players.md#list: players of one's servers",
  "GET /api/v1/players/{mc_uuid}": "docs/reference/players.md#player: one of them",
  "GET /api/v1/players/{mc_uuid}/access": "docs/reference/players.md#access: where a player is banned",
  "POST /api/v1/players/{mc_uuid}/access": "docs/reference/players.md#access: bans on several servers",
  "POST /api/v1/servers/{name}/players/{mc_uuid}/notes": "docs/reference/players.md#notes: what owners note",
  "DELETE /api/v1/servers/{name}/players/{mc_uuid}/notes/{id}": "docs/reference/players.md#notes: and delete",
  "GET /api/v1/account/links/{mc_uuid}/data": "docs/reference/players.md#own: what is kept about oneself",
  "DELETE /api/v1/account/links/{mc_uuid}/data": "docs/reference/players.md#erase: and its end",
  "GET /api/v1/me/server-filters": "docs/reference/server-filters.md#operations: what an account looks for",
  "PUT /api/v1/me/server-filters": "docs/reference/server-filters.md#operations: saved under a name",
  "DELETE /api/v1/me/server-filters/{id}": "docs/reference/server-filters.md#operations: and deleted",
  "GET /api/v1/me/server-templates": "docs/reference/server-templates.md#use: what servers may be made of",
  "POST /api/v1/me/servers": "docs/reference/server-templates.md#use: and made by their owner",
  "GET /api/v1/platform/server-templates":
    "docs/reference/server-templates.md#operations: settings that staff keep",
  "GET /api/v1/platform/server-templates/{name}": "docs/reference/server-templates.md#operations: and read",
  "PUT /api/v1/platform/server-templates/{name}": "docs/reference/server-templates.md#operations: and change",
  "DELETE /api/v1/platform/server-templates/{name}":
    "docs/reference/server-templates.md#operations: and delete",
  "GET /api/v1/servers/{name}/template":
    "docs/reference/server-templates.md#operations: and take from a server",
  "GET /api/v1/me/groups": "docs/reference/groups.md#operations: servers that start together",
  "POST /api/v1/me/groups": "docs/reference/groups.md#operations: made by their account",
  "GET /api/v1/me/groups/{id}": "docs/reference/groups.md#operations: and read",
  "PUT /api/v1/me/groups/{id}": "docs/reference/groups.md#operations: and changed",
  "DELETE /api/v1/me/groups/{id}": "docs/reference/groups.md#operations: and deleted",
  "POST /api/v1/me/groups/{id}/start": "docs/reference/groups.md#run: started in their order",
  "POST /api/v1/me/groups/{id}/stop": "docs/reference/groups.md#run: stopped in the opposite one",
  "POST /api/v1/me/groups/{id}/cancel": "docs/reference/groups.md#run: and no further",
  "GET /api/v1/announcements": "docs/reference/announcements.md#shown: what everybody is told",
  "GET /api/v1/announcements/public": "docs/reference/announcements.md#shown: also without signing in",
  "GET /api/v1/internal/announcements": "docs/reference/announcements.md#shown: and in the game",
  "GET /api/v1/platform/announcements": "docs/reference/announcements.md#operations: what staff announce",
  "POST /api/v1/platform/announcements": "docs/reference/announcements.md#operations: and plan",
  "PUT /api/v1/platform/announcements/{id}": "docs/reference/announcements.md#operations: and change",
  "POST /api/v1/platform/announcements/{id}/end": "docs/reference/announcements.md#operations: and end",
  "GET /api/v1/status": "docs/reference/status-pages.md#public: servers that are shown to everybody",
  "GET /api/v1/status/{subdomain}": "docs/reference/status-pages.md#public: one of them",
  "GET /api/v1/status/{subdomain}/badge.svg": "docs/reference/status-pages.md#badge: as a picture",
  "GET /api/v1/servers/{name}/status-page": "docs/reference/status-pages.md#show: whether it is shown",
  "PUT /api/v1/servers/{name}/status-page": "docs/reference/status-pages.md#show: its owner shows it",
  "GET /api/v1/platform/status-page": "docs/reference/status-pages.md#show: whether there is a list",
  "PUT /api/v1/platform/status-page": "docs/reference/status-pages.md#show: staff show it",
  "GET /api/v1/servers/{name}/drills": "docs/reference/backups.md#drill: how drills ended",
};

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const bindings: HttpBinding[] = [...operations, ...processOperations].map(({ http }) => http);
const served = new Map(
  bindings.flatMap((http) =>
    pathsOf(http).map((path): [string, HttpBinding] => [nameOf({ method: http.method, path }), http]),
  ),
);
const wanted = new Map(listed.map((operation) => [nameOf(operation), operation]));

describe("the list and the contracts", () => {
  test("every listed operation is served", () => {
    assert.deepEqual(
      [...wanted.keys()].filter((name) => !served.has(name)),
      [],
    );
  });

  test("every served operation is listed or a named addition", () => {
    const unknown = [...served.keys()].filter((name) => !wanted.has(name) && !(name in additions));
    assert.deepEqual(unknown, []);
  });

  test("no named addition is in the list", () => {
    assert.deepEqual(
      Object.keys(additions).filter((name) => wanted.has(name)),
      [],
    );
  });

  for (const [name, operation] of wanted) {
    const http = served.get(name);
    if (!http) continue;
    test(`${name} has the face, tier, callers, setup and rate limit of the list`, () => {
      assert.deepEqual(
        {
          faces: [...http.faces].sort(),
          tier: http.tier,
          callers: [...http.callers].sort(),
          setup_allowed: http.setup,
          rate_limited: http.rateLimited,
        },
        {
          faces: [...operation.faces].sort(),
          tier: operation.tier,
          callers: [...operation.callers].sort(),
          setup_allowed: operation.setup_allowed,
          rate_limited: operation.rate_limited,
        },
      );
    });
  }
});
