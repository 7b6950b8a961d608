// A compromised service: it has the password and sends NATS what it likes. It directs every answer of NATS to a subject
// of another service.

import { headers as createHeaders, type NatsConnection } from "@nats-io/transport-node";
import { buckets, owners, permissionsOf, type ServiceName, views } from "@svc/proto";

type Attack = { verb: string; run: (target: string) => void };

/** A message that the attacker stores where it may, to have it delivered elsewhere. */
function poison(body: string) {
  const headers = createHeaders();
  headers.set("Svc-Principal", JSON.stringify({ kind: "service", service: "gateway-external" }));
  headers.set("Svc-Publisher", "identity");
  headers.set("Svc-Line-Writer", "identity");
  return { payload: body, headers };
}

/** Fills what this service may write, and lists an attack for each subject of JetStream that it may use. */
export async function prepareAttacks(
  connection: NatsConnection,
  service: ServiceName,
  body: string,
): Promise<Attack[]> {
  const { payload, headers } = poison(body);
  const own = ownSubjects(service);
  for (const subject of own) connection.publish(subject, payload, { headers });
  await connection.flush();
  const attacks: Attack[] = own.map((subject) => ({
    verb: `acknowledgement of ${subject}`,
    run: (target) => connection.publish(subject, payload, { headers, reply: target }),
  }));
  for (const subject of permissionsOf(service).publish.filter((one) => one.startsWith("$JS."))) {
    const asked = subject.replace(/\.>$/, ".x");
    for (const request of requestsOf(subject, own)) {
      const to = request.subject ?? asked;
      attacks.push({
        verb: `${to} ${request.body}`,
        run: (target) => connection.publish(to, request.body, { reply: target }),
      });
    }
  }
  return attacks;
}

type Request = { subject?: string; body: string };

function requestsOf(subject: string, own: readonly string[]): Request[] {
  if (subject.startsWith("$JS.API.CONSUMER.MSG.NEXT."))
    return [1, 5].map((batch) => ({ body: JSON.stringify({ batch, expires: 1e9 }) }));
  if (subject.startsWith("$JS.ACK.")) return [{ body: "+NXT" }, { body: "+ACK" }];
  if (!subject.startsWith("$JS.API.DIRECT.GET.")) return [{ body: "" }];
  if (subject.endsWith(".>")) {
    const [stream] = subject.split(".").slice(4);
    const gets = own.map((one) => `$JS.API.DIRECT.GET.${stream}.${one}`);
    return gets
      .filter((one) => one.startsWith(subject.slice(0, -1)))
      .map((one) => ({ subject: one, body: "" }));
  }
  return [
    { seq: 1 },
    { seq: 1, no_hdr: true },
    { seq: 1, batch: 50 },
    { seq: 1, batch: 50, no_hdr: true },
    { start_time: "2020-01-01T00:00:00Z", batch: 50 },
    { multi_last: [">"], batch: 50 },
    { next_by_subj: ">", seq: 1 },
    ...own.map((one) => ({ last_by_subj: one })),
  ].map((body) => ({ body: JSON.stringify(body) }));
}

/** One subject of each stream that the service may publish to. */
function ownSubjects(service: ServiceName): string[] {
  const isOwner = (owners as readonly string[]).includes(service);
  const kept = [...views, ...buckets].filter(({ owner }) => owner === service);
  return [
    `svc.audit.${service}`,
    ...(isOwner ? [`svc.live.${service}.x.y`, `svc.evt.${service}.x.y`, `svc.dead.${service}.x`] : []),
    ...kept.map(({ name }) => `$KV.${name}.poison`),
  ];
}
