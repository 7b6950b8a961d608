// Both faces in front of a real identity with its database and mail relay, with and without a client address header.

import { createFace, createSessions, openServiceTokens } from "@svc/http-gateway";
import { operations, processOperations } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { type Fixture, startFixture } from "../../services/identity/src/testing/fixture.ts";
import { startTestProvider, type TestProvider } from "../../services/identity/src/testing/openid-provider.ts";
import { type RawRequest, type RawResponse, sendRequest } from "./raw-request.ts";

export const adminHost = "op.console.svc.localhost";
export const panelHost = "console.svc.localhost";

/** `edged` believes X-Forwarded-For as an edge writes it, `bare` believes the TCP peer alone. */
type FaceName = "edged" | "bare" | "internal";

export type GatewayFixture = {
  identity: Fixture;
  /** `club` of the settings, where everybody signs up. */
  provider: TestProvider;
  port: (face: FaceName) => number;
  /** Asks `edged` as a browser on the panel, from an address of its own unless X-Forwarded-For is given. */
  visit: (question: RawRequest & { cookie?: string }) => Promise<RawResponse>;
  /** Asks the internal face as the proxy. */
  asProxy: (question: RawRequest) => Promise<RawResponse>;
  close: () => Promise<void>;
};

const log = createLogger("gateway", "silent");
const velocity = "velocity-token-of-the-test";

export async function startGatewayFixture(): Promise<GatewayFixture> {
  const provider = await startTestProvider(
    [panelHost, adminHost].map((host) => `https://${host}/login/oidc/club`),
  );
  const club = { id: "club", issuer: provider.issuer, client_id: "public", name_en: "Club" };
  const identity = await startFixture({
    set: ["smtp.max_per_hour=1000000", "identity.mail_recipient_burst=1000"],
    oidcProviders: [{ ...club, client_auth: "none", allow_sign_up: true }],
  });
  const [edged, bare, internal] = await Promise.all([
    openFace(identity, { clientIpHeader: "x-forwarded-for" }),
    openFace(identity, { clientIpHeader: "" }),
    openInternal(identity),
  ]);
  const faces = { edged, bare, internal };
  const port = (face: FaceName) => faces[face].port;
  let number = 0;
  return {
    identity,
    provider,
    port,
    visit: ({ cookie, headers, ...rest }) => {
      number += 1;
      const address = `10.9.${number >> 8}.${number & 255}`;
      const own = { host: panelHost, "x-forwarded-for": address, ...(cookie && { cookie }) };
      return sendRequest(port("edged"), { ...rest, headers: { ...own, ...headers } });
    },
    asProxy: ({ headers, ...rest }) =>
      sendRequest(port("internal"), {
        ...rest,
        headers: { host: "proxy", authorization: `Bearer ${velocity}`, ...headers },
      }),
    close: async () => {
      await Promise.all([edged, bare, internal].map((one) => one.close()));
      await identity.stop();
      await provider.stop();
    },
  };
}

async function openFace(identity: Fixture, { clientIpHeader }: { clientIpHeader: string }) {
  const sessions = createSessions(identity.gateway, { cacheMs: 0, size: 100 });
  const face = createFace({
    ...{ face: "external", operations, processOperations, mesh: identity.gateway, log, sessions },
    registry: createRegistry("face", "1"),
    settings: { adminHostname: adminHost, drainMs: 500, clientIpHeader },
  });
  const { port } = await face.listen({ host: "127.0.0.1", port: 0 });
  const close = async () => {
    await face.close();
    sessions.close();
  };
  return { port, close };
}

async function openInternal(identity: Fixture) {
  const face = createFace({
    ...{ face: "internal", operations, processOperations, mesh: identity.internal, log },
    registry: createRegistry("face", "1"),
    tokens: openServiceTokens({ values: { velocity }, log }),
    settings: { adminHostname: adminHost, drainMs: 500 },
  });
  const { port } = await face.listen({ host: "127.0.0.1", port: 0 });
  return { port, close: () => face.close() };
}
