// Ports for servers that the tests start themselves.
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below those that Linux gives outgoing connections (32768 and up): hundreds are open beside API servers and take any port
// that was free a moment ago. Each worker of a run has its own part, so that two of them never have the same.
const first = 16_000;
const perWorker = 1000;
const parts = 12;
const part = first + (Number(process.env['VITEST_POOL_ID'] ?? 0) % parts) * perWorker;
let next = Math.floor(Math.random() * perWorker);

/** A port of 127.0.0.1 where nobody listens, not given before by this process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < perWorker; tries += 1) {
    const port = part + (next++ % perWorker);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${part} and ${part + perWorker} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
