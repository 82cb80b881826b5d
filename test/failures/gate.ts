import { createSocket } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A door in front of a server of another program. */
export interface Gate {
  port: number;
  url: string;
  /** While it is shut, every connection is closed. */
  isOpen: boolean;
}

/** Starts a gate to a port of this machine, shut, until the test ends. */
export async function gateTo(t: Pick<TestContext, 'after'>, port: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    if (!gate.isOpen) return void from.destroy();
    const to = connect(port, '127.0.0.1');
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => [from, to].map((one) => one.destroy()));
    }
    from.pipe(to).pipe(from);
  });
  const gate: Gate = { port: 0, url: '', isOpen: false };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  gate.port = (server.address() as { port: number }).port;
  gate.url = `http://127.0.0.1:${gate.port}`;
  return gate;
}

/** The same for a name server: over UDP, and over TCP at the same port. While it is shut, it answers SERVFAIL. */
export async function nameGateTo(t: Pick<TestContext, 'after'>, port: number): Promise<Gate> {
  const gate = await gateTo(t, port);
  const server = createSocket('udp4', (question, from) => {
    if (!gate.isOpen) {
      // The flags of a response, and SERVFAIL.
      question.writeUInt16BE(0x8182, 2);
      server.send(question, from.port, from.address);
      return;
    }
    const asked = createSocket('udp4', (answer) => {
      server.send(answer, from.port, from.address);
      asked.close();
    });
    asked.send(question, port, '127.0.0.1');
  });
  await new Promise<void>((resolve) => server.bind(gate.port, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return gate;
}
