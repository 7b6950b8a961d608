import { connect, type Socket } from "node:net";
import { RconError } from "./errors.ts";
import { createPacketReader, encodePacket, frameBodyBytes, type Packet, packetType } from "./packet.ts";

type ConnectionOptions = {
  readonly host: string;
  readonly port: number;
  readonly maxReplyBytes: number;
  /** A longer reply is cut there instead of refused. What follows it is not read, so the connection is of no use then. */
  readonly cutsReply?: boolean;
};

/** One TCP connection. Callers keep one request in flight at a time and bring their own deadline through `fail`. */
export type Connection = {
  authenticate(password: string): Promise<void>;
  run(command: string): Promise<string>;
  /** Ends the connection at once; the request in flight and all later ones reject with this error. */
  fail(error: RconError): void;
  /** Ends the connection and resolves when the socket is gone. */
  close(): Promise<void>;
  readonly failure: () => RconError | undefined;
};

type Exchange = {
  readonly onPacket: (packet: Packet) => void;
  readonly reject: (error: RconError) => void;
};

// A server that cuts only between characters sends frames up to three bytes short of full; such a frame may
// have a sequel too. Asking once more than needed is harmless.
const fullFrameBytes = frameBodyBytes - 3;
const maxId = 0x7fffffff;
const nothing = Buffer.alloc(0);

export function openConnection({ host, port, ...limits }: ConnectionOptions): Connection {
  const socket = connect({ host, port, noDelay: true });
  const gone = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let exchange: Exchange | undefined;
  let failure: RconError | undefined;
  let lastId = 0;

  const nextId = () => {
    lastId = lastId === maxId ? 1 : lastId + 1;
    return lastId;
  };
  const fail = (error: RconError) => {
    failure ??= error;
    socket.destroy();
    const pending = exchange;
    exchange = undefined;
    pending?.reject(failure);
  };
  watchSocket(socket, { fail, onPacket: (packet) => exchange?.onPacket(packet), host, port });

  const begin = <T>(start: (done: (value: T) => void) => (packet: Packet) => void): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (failure) return reject(failure);
      const done = (value: T) => {
        exchange = undefined;
        resolve(value);
      };
      exchange = { onPacket: start(done), reject };
    });
  // Bytes written before the connection stands are kept by the socket and sent once it does.
  const send = (id: number, type: number, body: Buffer) => socket.write(encodePacket({ id, type, body }));

  return {
    authenticate: (password) =>
      begin<void>((done) => {
        const id = nextId();
        send(id, packetType.auth, Buffer.from(password, "utf8"));
        return (packet) => {
          // Source servers send an empty type 0 frame before the answer itself.
          if (packet.type !== packetType.authReply) return;
          if (packet.id === id) done();
          else fail(new RconError("auth", "The server does not accept the RCON password."));
        };
      }),
    run: (command) =>
      begin<string>((done) => {
        const ids = { command: nextId(), end: nextId() };
        send(ids.command, packetType.command, Buffer.from(command, "utf8"));
        const askForEnd = () => send(ids.end, packetType.terminator, nothing);
        return collectReply({ ids, ...limits, askForEnd, done, fail });
      }),
    fail,
    close: () => {
      fail(new RconError("closed", "The RCON connection has been closed."));
      return gone;
    },
    failure: () => failure,
  };
}

type Watch = {
  readonly fail: (error: RconError) => void;
  readonly onPacket: (packet: Packet) => void;
  readonly host: string;
  readonly port: number;
};

function watchSocket(socket: Socket, { fail, onPacket, host, port }: Watch): void {
  // Twice the frame that the protocol names: some servers cut at 4096 characters, not bytes.
  const read = createPacketReader({ maxBodyBytes: 4 * frameBodyBytes, onPacket });
  socket.on("data", (chunk) => {
    try {
      read(chunk);
    } catch (error) {
      fail(error instanceof RconError ? error : new RconError("protocol", String(error), { cause: error }));
    }
  });
  let connected = false;
  socket.once("connect", () => {
    connected = true;
  });
  socket.on("error", (cause) => {
    const code = connected ? "closed" : "connect";
    const message = connected
      ? `The RCON connection to ${host}:${port} broke: ${cause.message}.`
      : `No RCON connection to ${host}:${port}: ${cause.message}.`;
    fail(new RconError(code, message, { cause }));
  });
  socket.on("close", () =>
    fail(new RconError("closed", `The server at ${host}:${port} closed the RCON connection.`)),
  );
}

type Collect = {
  readonly ids: { readonly command: number; readonly end: number };
  readonly maxReplyBytes: number;
  readonly cutsReply?: boolean;
  readonly askForEnd: () => void;
  readonly done: (reply: string) => void;
  readonly fail: (error: RconError) => void;
};

/**
 * A short first frame is the whole reply. After a full one a second request, of a type that no server knows, is
 * sent: servers answer in order, so its answer marks the end. It must not be sent earlier, because vanilla
 * takes whatever one read returns for one packet.
 */
function collectReply(options: Collect): (packet: Packet) => void {
  const { ids, maxReplyBytes, cutsReply = false, askForEnd, done, fail } = options;
  const parts: Buffer[] = [];
  let bytes = 0;
  // Bytes are joined before they become text: a frame may end in the middle of a character.
  const finish = () => done(Buffer.concat(parts, Math.min(bytes, maxReplyBytes)).toString("utf8"));
  return ({ id, body }) => {
    if (id === -1) return fail(new RconError("auth", "The server no longer accepts this RCON connection."));
    if (id === ids.end) return finish();
    if (id !== ids.command) return;
    bytes += body.length;
    if (bytes > maxReplyBytes && !cutsReply)
      return fail(new RconError("too_long", `The reply is longer than ${maxReplyBytes} bytes.`));
    // A frame without a body adds nothing but the memory it takes here.
    if (parts.length > 0 && body.length === 0) return;
    parts.push(body);
    if (bytes >= maxReplyBytes && cutsReply) return finish();
    if (parts.length > 1) return;
    if (body.length < fullFrameBytes) finish();
    else askForEnd();
  };
}
