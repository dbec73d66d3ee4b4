// bke serve: the file and chart repository as a service; systemd types this, people do not.
import type { Command } from '../context.ts';

export const serve: Command = {
  path: ['serve'],
  group: 'roles',
  hidden: true,
  summary: 'Serve files and charts over HTTPS',
  description:
    'Files are at https://HOST:PORT/<path>, charts at https://HOST:PORT/index.yaml of their own port. Read-only; /healthz answers while it runs. Certificate and key are read again when they change. One JSON line per request goes to standard output.',
  examples: [
    {
      command:
        'bke serve --data-dir /srv/bke --file-port 40080 --chart-port 38080 --tls-cert tls.crt --tls-key tls.key',
      says: 'until it is told to stop',
    },
  ],
  options: [
    {
      type: 'path',
      name: 'data-dir',
      placeholder: 'DIR',
      required: true,
      summary: 'its files/ and charts/ are served',
    },
    {
      type: 'port',
      name: 'file-port',
      aliases: ['files-port'],
      placeholder: 'PORT',
      default: 40_080,
      summary: 'port of the file repository',
    },
    {
      type: 'port',
      name: 'chart-port',
      aliases: ['charts-port'],
      placeholder: 'PORT',
      default: 38_080,
      summary: 'port of the chart repository',
    },
    { type: 'text', name: 'address', placeholder: 'IP', summary: 'listen only there; default everywhere' },
    { type: 'path', name: 'tls-cert', placeholder: 'FILE', required: true, summary: 'certificate chain (PEM)' },
    { type: 'path', name: 'tls-key', placeholder: 'FILE', required: true, summary: 'its private key (PEM)' },
    {
      type: 'integer',
      name: 'max-downloads',
      placeholder: 'N',
      default: 128,
      summary: 'downloads at once; more are told to come again (429)',
    },
  ],
  output: [],
  run: async (context, input) => {
    const { runServe } = await import('./serve-handler.ts');
    return runServe(context, input);
  },
};
