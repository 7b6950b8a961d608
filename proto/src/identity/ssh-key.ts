// SSH keys of a person, and what SFTP opens with them (docs/reference/sftp.md#keys, docs/reference/sftp.md#sign-in).
// Vocabulary: endpoint = where a process that speaks SFTP is reached; session = a connection of a client that was let in, as an API token.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

/** Kinds of keys that are accepted; RSA from 3072 bits. */
export const sshKeyTypes = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
] as const;

/** `SHA256:` and 43 characters of base64, as `ssh-keygen -l` prints it. */
const Fingerprint = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/);

/** One key as its owner sees it. */
export const SshKey = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.enum(sshKeyTypes),
  fingerprint: Fingerprint,
  created_at: Timestamp,
  /** When and from where it last opened a session; absent until then. */
  last_used_at: Timestamp.optional(),
  last_used_ip: z.string().optional(),
});
export type SshKey = z.output<typeof SshKey>;

const KeyName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, "must have no control characters");

const path = "/api/v1/account/ssh-keys";
const external = { face: "external", tier: "app" } as const;

export const add = operation({
  subject: "identity.ssh-key.add",
  http: { method: "POST", path, ...external, status: 201 },
  body: {
    /** Absent: the comment of the key. */
    name: KeyName.optional(),
    public_key: z
      .string()
      .max(8_192)
      .meta({ description: "One line as in ~/.ssh/id_ed25519.pub: type, base64, and a comment if any" }),
  },
  output: z.strictObject({ key: SshKey }),
  faults: ["bad_ssh_key", "reauth_required", "ssh_key_taken", "ssh_key_limit"],
  onceById: true,
  summary: "Adds an SSH key with which the caller signs in to SFTP.",
  spec: "docs/reference/sftp.md#keys",
});

export const list = operation({
  subject: "identity.ssh-key.list",
  http: { method: "GET", path, ...external },
  output: z.strictObject({ keys: z.array(SshKey) }),
  summary: "The caller's SSH keys, newest first.",
  spec: "docs/reference/sftp.md#keys",
});

export const remove = operation({
  subject: "identity.ssh-key.remove",
  http: { method: "DELETE", path: `${path}/{id}`, ...external, status: 204 },
  params: { id: z.string().max(64) },
  output: nothing,
  faults: ["ssh_key_not_found"],
  onceById: true,
  summary: "Removes an SSH key; what it opened ends at once.",
  spec: "docs/reference/sftp.md#keys",
});

/** Where SFTP is reached, as it announces itself. */
export const SftpEndpoint = z.strictObject({
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  /** Of its host key, which clients show at the first connection. */
  fingerprint: Fingerprint,
});
export type SftpEndpoint = z.output<typeof SftpEndpoint>;

export const readEndpoint = operation({
  subject: "identity.ssh-key.read-endpoint",
  http: { method: "GET", path: "/api/v1/sftp", ...external },
  output: z.strictObject({
    /** Null: this installation has no SFTP, or it has not announced itself for three minutes. */
    endpoint: SftpEndpoint.nullable(),
  }),
  summary: "Where SFTP is reached, and the fingerprint of its host key.",
  spec: "docs/reference/sftp.md#endpoint",
});

const internal = { face: "internal", tier: "service", callers: ["sftp"] } as const;
const base64 = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, "must be base64");

export const announceEndpoint = operation({
  subject: "identity.ssh-key.announce-endpoint",
  http: { method: "PUT", path: "/api/v1/internal/sftp/endpoint", ...internal, status: 204 },
  body: SftpEndpoint.shape,
  output: nothing,
  idempotent: true,
  summary: "The process that speaks SFTP says every minute where it is reached.",
  spec: "docs/reference/sftp.md#endpoint",
});

export const openSession = operation({
  subject: "identity.ssh-key.open-session",
  http: {
    method: "POST",
    path: "/api/v1/internal/sftp/sessions",
    ...internal,
    status: 201,
    holdsSecrets: true,
  },
  body: {
    signed: base64(16_384).meta({ description: "What the client signed (RFC 4252, section 7), base64" }),
    signature: base64(8_192).meta({ description: "Base64; of an ECDSA key in DER" }),
    client_ip: z.string().max(64),
    client_software: z.string().max(255),
  },
  output: z.strictObject({
    id: z.string(),
    /** An API token for the server that the client named, see docs/reference/sftp.md#session. */
    secret: z.string(),
    user_id: z.string(),
    server: z.string(),
    expires_at: Timestamp,
  }),
  faults: ["ssh_key_refused"],
  onceById: true,
  summary: "Opens a session for whoever signed a connection with a key of an account.",
  spec: "docs/reference/sftp.md#sign-in",
});

export const closeSession = operation({
  subject: "identity.ssh-key.close-session",
  http: { method: "DELETE", path: "/api/v1/internal/sftp/sessions/{id}", ...internal, status: 204 },
  params: { id: z.string().max(64) },
  output: nothing,
  idempotent: true,
  summary: "Ends a session whose connection has ended; one that is gone already is no error.",
  spec: "docs/reference/sftp.md#session",
});
