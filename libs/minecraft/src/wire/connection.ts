import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Socket } from "node:net";
import { MinecraftFault } from "../fault.ts";
import { Reader, varint } from "./bytes.ts";
import { decodeFrame, encodeFrame, maxFrameBytes, maxInflatedBytes } from "./frame.ts";
import { Work, workOf } from "./work.ts";

/** One whole packet. `reader` stands behind the id; `body` is id and fields, and is only borrowed until the sink returns. */
export type Packet = { readonly id: number; readonly reader: Reader; readonly body: Buffer };

const maxLoose = 256;

type Transform = { update(bytes: Buffer): Buffer };
type Sink = (packet: Packet) => void;
/** How many bytes were handled, and how many the next step needs at least. */
export type Used = { readonly bytes: number; readonly needed: number };
type ReadChunk = (bytes: Buffer) => Used;

/**
 * A socket with Minecraft framing. Bytes are read only while somebody wants them: during `next()`, with `listen()`, or
 * with `readChunks()`. Anything the peer does wrong closes it with a `frame` fault; `closed` then settles, and never rejects.
 */
export class Connection {
  readonly socket: Socket;
  /** Settles once, with the fault that ended the connection, or undefined when either side simply closed. */
  readonly closed: Promise<MinecraftFault | undefined>;
  /** Compression threshold of both directions; below 0 there is none. */
  threshold = -1;
  /** Limit of one frame. Small before the peer is known, the protocol's own afterwards. */
  frameLimit = maxFrameBytes;
  /** Limit of one packet after inflation. */
  inflatedLimit = maxInflatedBytes;
  /** What this peer's packets have cost and may cost. When it is used up, the peer rests: nothing is read from it. */
  work = new Work();

  #cipher: Transform | undefined;
  #decipher: Transform | undefined;
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Chunks at the end that were not tied together yet. */
  #loose = 0;
  #needed = 1;
  #sink: Sink | undefined;
  #reader: { readonly owner: object; readonly readChunk: ReadChunk } | undefined;
  #fault: MinecraftFault | undefined;
  #parsing = false;
  #blocked = false;
  #resting: NodeJS.Timeout | undefined;
  /** Whoever waits for the pool; a relay that has been stopped meanwhile waits for nothing. */
  #suspended: symbol | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.pause();
    this.closed = new Promise((resolve) => socket.once("close", () => resolve(this.#fault)));
    socket.on("error", (error) => {
      this.#fault ??= new MinecraftFault("closed", error.message);
    });
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("drain", () => this.#drained?.());
    socket.once("close", () => clearTimeout(this.#resting));
  }

  #drained: (() => void) | undefined;

  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.writableEnded;
  }

  /** Bytes that wait to be sent. */
  get backlogBytes(): number {
    return this.socket.writableLength;
  }

  /** From now on both directions are AES-128-CFB8 with `secret` as key and IV, as the protocol has it. */
  encrypt(secret: Buffer): void {
    this.#cipher = createCipheriv("aes-128-cfb8", secret, secret);
    const decipher = createDecipheriv("aes-128-cfb8", secret, secret);
    this.#decipher = decipher;
    this.#chunks = this.#chunks.map((chunk) => decipher.update(chunk));
  }

  /** Sends one packet: id and fields. False means the peer reads slower than we send. */
  send(id: number, ...fields: Buffer[]): boolean {
    return this.sendBody(Buffer.concat([varint(id), ...fields]));
  }

  /** Sends a packet that is id and fields already. */
  sendBody(body: Buffer): boolean {
    return this.write(encodeFrame(body, this.threshold));
  }

  /** Sends bytes that are framed already. */
  write(bytes: Buffer): boolean {
    if (this.isClosed) return true;
    return this.socket.write(this.#cipher ? this.#cipher.update(bytes) : bytes);
  }

  /** The next packet. What follows it stays unread until the next call. */
  next(): Promise<Packet> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(this.#fault ?? new MinecraftFault("closed", "the connection closed"));
      if (this.isClosed) return gone();
      this.socket.once("close", gone);
      this.#read((packet) => {
        this.stop();
        this.socket.off("close", gone);
        resolve({ ...packet, reader: new Reader(packet.body, packet.reader.offset) });
      });
    });
  }

  /** Hands every packet to `sink` until `stop()`. A fault thrown by the sink closes the connection. */
  listen(sink: Sink): void {
    this.#read(sink);
  }

  /** Hands bytes to `readChunk` as they come, frames and all, until `stop()`. `owner` is who asks for it. */
  readChunks(owner: object, readChunk: ReadChunk): void {
    this.#sink = undefined;
    this.#reader = { owner, readChunk };
    this.#drive();
  }

  /** Stops reading; bytes stay in the socket, so that the peer feels it. */
  stop(): void {
    this.#sink = undefined;
    this.#reader = undefined;
    this.#blocked = false;
    this.#suspended = undefined;
    this.socket.pause();
  }

  /** Sends what is buffered, then closes; the peer has `graceMs` to read it. */
  end(graceMs = 500): void {
    this.stop();
    if (this.socket.destroyed) return;
    this.socket.end();
    const timer = setTimeout(() => this.socket.destroy(), graceMs).unref();
    this.socket.once("close", () => clearTimeout(timer));
    this.socket.resume();
  }

  /** Closes at once. */
  destroy(fault?: MinecraftFault): void {
    this.#fault ??= fault;
    this.stop();
    this.socket.destroy();
  }

  /** Stops reading this connection until `other` has drained. */
  waitFor(other: Connection): void {
    this.#blocked = true;
    this.socket.pause();
    other.#drained = () => {
      other.#drained = undefined;
      this.#blocked = false;
      this.#drive();
    };
  }

  /** Stops reading until `done` settles; what it rejects with closes the connection. */
  suspend(done: Promise<void>): void {
    const mine = Symbol();
    this.#suspended = mine;
    this.socket.pause();
    const go = () => {
      if (this.#suspended !== mine) return;
      this.#suspended = undefined;
      this.#drive();
    };
    done.then(go, (error: unknown) => {
      if (this.#suspended === mine) this.destroy(asFault(error));
    });
  }

  /** Notes what the peer made us do. Who has used up what it may cost is not read from for a while; nobody else waits. */
  spend(units: number): void {
    const restMs = this.work.spend(units);
    if (restMs === 0 || this.#resting || this.socket.destroyed) return;
    this.socket.pause();
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#drive();
    }, restMs).unref();
  }

  #read(sink: Sink): void {
    this.#reader = undefined;
    this.#sink = sink;
    this.#drive();
  }

  #wanted(): boolean {
    return (this.#sink !== undefined || this.#reader !== undefined) && this.#isFree();
  }

  #isFree(): boolean {
    return !this.#blocked && this.#resting === undefined && this.#suspended === undefined;
  }

  #drive(): void {
    if (this.#parsing) return;
    this.#parse();
    if (this.#wanted() && !this.socket.destroyed) this.socket.resume();
  }

  #receive(bytes: Buffer): void {
    if (this.socket.writableEnded) return;
    this.spend(bytes.length);
    const plain = this.#decipher ? this.#decipher.update(bytes) : bytes;
    this.#chunks.push(plain);
    this.#buffered += plain.length;
    this.#loose += 1;
    if (this.#loose === maxLoose) this.#tie();
    this.#parse();
  }

  #parse(): void {
    if (this.#parsing) return;
    this.#parsing = true;
    try {
      while (this.#wanted() && this.#buffered >= this.#needed && this.#step());
    } catch (error) {
      this.destroy(asFault(error));
    } finally {
      this.#parsing = false;
    }
  }

  /** Handles what is buffered; false when the next frame is not whole yet. Tiny chunks are joined once, not each time. */
  #step(): boolean {
    const reader = this.#reader;
    const bytes = this.#joined(reader !== undefined);
    const used: Used & { readonly body?: Buffer } = reader ? reader.readChunk(bytes) : this.#one(bytes);
    if (used.bytes > 0) {
      this.#buffered -= used.bytes;
      if (used.bytes === bytes.length) this.#chunks.shift();
      else this.#chunks[0] = bytes.subarray(used.bytes);
    }
    this.#loose = Math.min(this.#loose, this.#chunks.length);
    const before = this.#needed;
    this.#needed = Math.max(1, used.needed);
    const sink = this.#sink;
    if (used.body && sink) this.#deliver(used.body, sink);
    return used.bytes > 0 || this.#needed > before;
  }

  /** A chunk of one byte costs some hundred bytes of memory; many of them become one. */
  #tie(): void {
    this.#chunks.push(Buffer.concat(this.#chunks.splice(-maxLoose)));
    this.#loose = 0;
  }

  /**
   * The first chunk, with what its first frame still lacks. A relay gets no more than that frame, so that a frame which
   * two chunks share costs its own copy and not theirs.
   */
  #joined(isRelaying: boolean): Buffer {
    const [first] = this.#chunks;
    if (first && (this.#chunks.length === 1 || (isRelaying && first.length >= this.#needed))) return first;
    const all = Buffer.concat(this.#chunks, isRelaying ? this.#needed : this.#buffered);
    let [count, over] = [0, -all.length];
    while (over < 0) over += this.#chunks[count++]?.length ?? 0;
    // In one go: however tiny the chunks are, each of them is moved once.
    const rest = over > 0 ? [this.#chunks[count - 1]?.subarray(-over) as Buffer] : [];
    this.#chunks.splice(0, count, all, ...rest);
    return all;
  }

  #one(bytes: Buffer): Used & { readonly body?: Buffer } {
    const header = frameHeader(bytes, 0, this.frameLimit);
    if (header === undefined) return { bytes: 0, needed: bytes.length + 1 };
    const end = header.start + header.length;
    if (end > bytes.length) return { bytes: 0, needed: end };
    const content = bytes.subarray(header.start, end);
    const body = decodeFrame(content, this.threshold, this.inflatedLimit);
    if (this.threshold >= 0 && content[0] !== 0) this.spend(workOf.inflate(body.length));
    return { bytes: end, needed: 1, body };
  }

  #deliver(body: Buffer, sink: Sink): void {
    const reader = new Reader(body);
    sink({ id: reader.varint(), reader, body });
  }

  /** Whether `owner` still reads and nothing makes it wait. */
  isReading(owner: object): boolean {
    return this.isReadBy(owner) && this.#isFree();
  }

  /** Whether `owner` still reads, even if it has to wait now. */
  isReadBy(owner: object): boolean {
    return this.#reader?.owner === owner && !this.socket.destroyed;
  }
}

function asFault(error: unknown): MinecraftFault {
  return error instanceof MinecraftFault ? error : new MinecraftFault("frame", String(error));
}

/** Where a frame's content starts and how long it is; undefined when the length itself is not whole yet. */
function frameHeader(
  bytes: Buffer,
  offset: number,
  limit: number,
): { start: number; length: number } | undefined {
  let length = 0;
  for (let index = 0; index < 3; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (index * 7);
    if ((byte & 0x80) !== 0) continue;
    if (length === 0) throw new MinecraftFault("frame", "a frame is empty");
    if (length > limit)
      throw new MinecraftFault("frame", `a frame of ${length} bytes is above the limit of ${limit}`);
    return { start: offset + index + 1, length };
  }
  throw new MinecraftFault("frame", "a frame's length is longer than 3 bytes");
}
