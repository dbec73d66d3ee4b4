// The HTTP endpoints of a controller process.
import { afterEach, expect, it } from 'vitest';
import { type Endpoint, type Routes, startEndpoint } from '../../../src/controllers/endpoints.ts';

const open: Endpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.stop()));
});

async function start(routes: Routes): Promise<(path: string, method?: string) => Promise<Response>> {
  const endpoint = await startEndpoint(0, routes);
  open.push(endpoint);
  return (path, method = 'GET') => fetch(`http://127.0.0.1:${endpoint.port}${path}`, { method });
}

it('answers what its route gives, with its type and without being kept by caches', async () => {
  const get = await start({
    '/metrics': async () => ({ status: 200, text: 'x 1\n', type: 'text/plain; version=0.0.4' }),
  });
  const response = await get('/metrics?a=b');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.text()).toBe('x 1\n');
  expect(await (await get('/metrics', 'HEAD')).text()).toBe('');
});

it('has no other paths and takes no other methods', async () => {
  const get = await start({ '/healthz': () => ({ status: 200, text: 'ok\n' }) });
  expect((await get('/')).status).toBe(404);
  expect((await get('/constructor')).status).toBe(404);
  expect((await get('/healthz', 'POST')).status).toBe(405);
});

it('tells nothing of an error', async () => {
  const get = await start({ '/metrics': () => Promise.reject(new Error('a secret')) });
  const response = await get('/metrics');
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('failed\n');
});

it('refuses to start on a port that is taken', async () => {
  const endpoint = await startEndpoint(0, {});
  open.push(endpoint);
  await expect(startEndpoint(endpoint.port, {})).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
