// Cuts a stream into the packets of SFTP: a length of four bytes and as many bytes. Pure.

/** A WRITE of 256 KiB with its head; clients of OpenSSH send no more. */
export const largestPacket = 256 * 1_024 + 1_024;

/** What a client sends that is no SFTP ends its connection. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
}

/** Takes what has arrived and returns the packets that are complete. Throws `ProtocolError` for an impossible length. */
export function createPackets(): (chunk: Buffer) => Buffer[] {
  let parts: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    const packets: Buffer[] = [];
    for (;;) {
      if (held < 4) return packets;
      if ((parts[0]?.length ?? 0) < 4) parts = [Buffer.concat(parts)];
      const length = parts[0]?.readUInt32BE() ?? 0;
      if (length < 1 || length > largestPacket) throw new ProtocolError(`a packet of ${length} bytes`);
      if (held < 4 + length) return packets;
      const all = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
      packets.push(all.subarray(4, 4 + length));
      const rest = all.subarray(4 + length);
      parts = rest.length > 0 ? [rest] : [];
      held = rest.length;
    }
  };
}
