import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileName, loadConfig, parseAddress } from "./config.ts";
import { defaultLimits } from "./limit-settings.ts";

const minimal = { SVC_API_BASE_URL: "http://127.0.0.1:8080/", SVC_SERVICE_TOKEN: "v" };

function folder(t: { after: (end: () => void) => void }, text: string): string {
  const dir = mkdtempSync(join(tmpdir(), "svc-proxy-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, fileName), text);
  return dir;
}

test("without anything but address and token, everything has the default of the specification", () => {
  const { limits, name, ...config } = loadConfig(minimal);
  assert.match(name, /^[A-Za-z0-9._-]{1,63}$/);
  assert.deepEqual(limits, defaultLimits);
  assert.deepEqual(config, {
    apiBaseUrl: "http://127.0.0.1:8080",
    token: "v",
    tokenFile: undefined,
    rootDomain: "",
    panelUrl: undefined,
    loginServer: "login",
    lobbyServer: "lobby",
    loginAddress: undefined,
    lobbyAddress: undefined,
    logAddresses: true,
    connectTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    listenHost: "127.0.0.1",
    listenPort: 25_565,
    onlineMode: true,
    localNames: false,
    sessionServer: "http://127.0.0.1:8080",
    forwardingMasterFile: undefined,
    acceptProxyProtocol: false,
    trustedProxies: "",
    serverTransfers: false,
    pluginMessages: false,
    sendProxyProtocol: false,
    transferTo: undefined,
    dataDir: ".",
  });
});

test("the limits are those of docs/reference/settings.md#proxy", () => {
  const { refreshMs, queueTickMs, waiterSilenceMs, waiterMaxMs, progressMs, linkMemoryMs } = defaultLimits;
  assert.deepEqual(
    [refreshMs, queueTickMs, waiterSilenceMs, waiterMaxMs, progressMs, linkMemoryMs],
    [15_000, 2_000, 120_000, 3_600_000, 60_000, 600_000],
  );
  const { denialMs, actionBurst, actionEveryMs, frameBurst, frameEveryMs, statusCacheMs } = defaultLimits;
  assert.deepEqual(
    [denialMs, actionBurst, actionEveryMs, frameBurst, frameEveryMs, statusCacheMs],
    [15_000, 5, 5_000, 96, 100, 2_000],
  );
  const { listNames, workers, slots, retryPauseMinMs, retryPauseMaxMs, tokenRereadMs } = defaultLimits;
  assert.deepEqual(
    [listNames, workers, slots, retryPauseMinMs, retryPauseMaxMs, tokenRereadMs],
    [500, 8, 64, 100, 400, 1_000],
  );
  assert.deepEqual([defaultLimits.activityMs, defaultLimits.outageWarningMs], [600_000, 300_000]);
  assert.deepEqual([defaultLimits.linkMemoryPlayers, defaultLimits.serviceConnections], [20_000, 32]);
  assert.deepEqual([defaultLimits.connections, defaultLimits.connectionsPerAddress], [4_096, 16]);
  assert.deepEqual([defaultLimits.loginBurst, defaultLimits.loginEveryMs], [32, 2_000]);
  assert.deepEqual([defaultLimits.ticketMs, defaultLimits.cookieMs], [120_000, 2_000]);
});

const panels: [Record<string, string>, string | undefined][] = [
  [{}, undefined],
  [{ SVC_ROOT_DOMAIN: "play.example" }, "https://console.play.example"],
  [{ SVC_ROOT_DOMAIN: "play.example", SVC_PANEL_HOSTNAME: "panel.example" }, "https://panel.example"],
  [{ SVC_PANEL_HOSTNAME: "console.svc.localhost:8443" }, "http://console.svc.localhost:8443"],
  [{ SVC_PANEL_HOSTNAME: "localhost.example" }, "https://localhost.example"],
];
for (const [change, wanted] of panels) {
  test(`the panel of ${JSON.stringify(change)} is ${wanted}`, () => {
    assert.equal(loadConfig({ ...minimal, ...change }).panelUrl, wanted);
  });
}

test("the environment wins over the file, key by key", (t) => {
  const dir = folder(
    t,
    "# ours\napi-base-url = http://a:1\nservice-token: secret\nroot-domain=.Play.Example.\nqueue-tick-ms=50\nworkers=3\n",
  );
  const config = loadConfig({ SVC_PROXY_DIR: dir, SVC_API_BASE_URL: "http://b:2", SVC_PROXY_WORKERS: "2" });
  assert.equal(config.apiBaseUrl, "http://b:2");
  assert.equal(config.rootDomain, "play.example");
  assert.deepEqual([config.limits.queueTickMs, config.limits.workers], [50, 2]);
  assert.deepEqual([config.token, config.tokenFile], ["", join(dir, fileName)]);
});

const wrong: Record<string, [Record<string, string>, RegExp]> = {
  "no address of the service": [{ SVC_API_BASE_URL: "" }, /api-base-url is missing/],
  "an address that is not a URL": [
    { SVC_API_BASE_URL: "api:8080" },
    /api-base-url must be a URL such as http.*, not "api:8080"/,
  ],
  "no token": [{ SVC_SERVICE_TOKEN: " " }, /service-token is missing; set it in .*svc-link\.properties/],
  "a timeout of 0 s": [
    { SVC_API_CONNECT_TIMEOUT_SECONDS: "0" },
    /connect-timeout-seconds must be .*1 to 120, not "0"/,
  ],
  "a timeout of 121 s": [
    { SVC_API_REQUEST_TIMEOUT_SECONDS: "121" },
    /request-timeout-seconds must be .*1 to 120, not "121"/,
  ],
  "a timeout of 1.5 s": [{ SVC_API_REQUEST_TIMEOUT_SECONDS: "1.5" }, /whole number/],
  "the gate as the lobby": [{ SVC_LOBBY_SERVER: "login" }, /the gate needs a server of its own/],
  "a port too high": [{ SVC_PROXY_PORT: "65536" }, /listen-port/],
  "online mode perhaps": [
    { SVC_PROXY_ONLINE_MODE: "maybe" },
    /online-mode must be true or false, not "maybe"/,
  ],
  "a transfer without a port": [
    { SVC_PROXY_TRANSFER_TO: "play.example" },
    /transfer-to must be .* host:port/,
  ],
  "no workers": [{ SVC_PROXY_WORKERS: "0" }, /workers must be .* not "0"/],
};
for (const [name, [change, message]] of Object.entries(wrong)) {
  test(`${name} stops the start and says what to write`, () => {
    assert.throws(() => loadConfig({ ...minimal, SVC_PROXY_DIR: "/nonexistent", ...change }), {
      name: "ConfigError",
      message,
    });
  });
}

const local = { SVC_PROXY_LOCAL_NAMES: "true", SVC_ROOT_DOMAIN: "svc.localhost" };
const exposed: Record<string, Record<string, string>> = {
  "a root domain that others can reach": { SVC_ROOT_DOMAIN: "play.example" },
  "a root domain that only looks local": { SVC_ROOT_DOMAIN: "svc.localhost.example" },
  "no root domain": { SVC_ROOT_DOMAIN: "" },
  "an address that others can reach": { SVC_PROXY_HOST: "0.0.0.0" },
  "a load balancer before it": { SVC_PROXY_ACCEPT_PROXY_PROTOCOL: "true" },
};
for (const [name, change] of Object.entries(exposed)) {
  test(`with ${name} names are not taken as they are typed`, () => {
    const environment = { ...minimal, SVC_PROXY_DIR: "/nonexistent", ...local, ...change };
    assert.throws(() => loadConfig(environment), /local-names lets anybody take any name/);
  });
}

test("on a loopback address below localhost names may be taken as they are typed", () => {
  assert.equal(loadConfig({ ...minimal, SVC_PROXY_DIR: "/nonexistent", ...local }).localNames, true);
});

test("an address is a host and a port, also of IPv6", () => {
  assert.deepEqual(parseAddress("127.0.0.1:25565"), { host: "127.0.0.1", port: 25_565 });
  assert.deepEqual(parseAddress("[::1]:1"), { host: "::1", port: 1 });
  for (const bad of ["", "host", "host:0", "host:65536", "a b:1", "::1:5", "host:"]) {
    assert.equal(parseAddress(bad), undefined, bad);
  }
});
