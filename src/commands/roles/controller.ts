// bke controller run: the provider as a process; the Deployment types this, people do not.
import type { Command } from '../context.ts';

export const controllerRun: Command = {
  path: ['controller', 'run'],
  group: 'roles',
  hidden: true,
  summary: 'Run the controllers of a management cluster',
  description:
    'Of several that run, one works: the one that holds the lease bke-system/bke-controller-manager. /healthz, /readyz and /watches (what is watched, in step or not, and the age of the last event) are on the health port, /metrics for Prometheus on its own. One JSON line per event goes to standard output. Told to stop, it ends what it is doing and gives the lease back.',
  examples: [
    { command: 'bke controller run', says: 'in a pod, with its service account' },
    { command: 'bke controller run --kubeconfig admin.conf', says: 'from outside of the cluster' },
  ],
  options: [
    {
      type: 'path',
      name: 'kubeconfig',
      placeholder: 'FILE',
      summary: 'the cluster; default: the one whose pod this is',
    },
    {
      type: 'namespace',
      name: 'namespace',
      placeholder: 'NAME',
      summary: 'look after clusters and hosts of this namespace only; default all',
    },
    {
      type: 'port',
      name: 'health-port',
      placeholder: 'PORT',
      default: 9440,
      summary: 'port of /healthz, /readyz and /watches',
    },
    { type: 'port', name: 'metrics-port', placeholder: 'PORT', default: 8080, summary: 'port of /metrics' },
  ],
  output: [],
  run: async (context, input) => {
    const { runController } = await import('./controller-handler.ts');
    return runController(context, input);
  },
};
