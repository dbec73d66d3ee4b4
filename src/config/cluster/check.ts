// What must hold between the fields of a cluster.yaml, and how values were written: found also where other fields are wrong.
import { passThroughFindings } from '../pass-through.ts';
import type { Check, Finding, WrittenSource } from '../read-yaml.ts';
import { endpointFindings } from './check-endpoint.ts';
import { hostFindings } from './check-hosts.ts';
import { networkFindings } from './check-network.ts';
import { sshFindings } from './check-ssh.ts';
import { type ClusterSketch, sketchOf } from './sketch.ts';

export const checkCluster: Check = (raw, source) => {
  const sketch = sketchOf(raw);
  return [
    ...hostFindings(sketch, source),
    ...sshFindings(sketch, source),
    ...networkFindings(sketch),
    ...endpointFindings(sketch),
    ...registryFindings(sketch),
    ...addonFindings(sketch, source),
    ...passThroughFindings(raw, source),
  ];
};

function registryFindings({ registry }: ClusterSketch): Finding[] {
  const at = (field: string): Finding['path'] => ['spec', 'registry', field];
  const { host = '', username = '', passwordFile = '', caFile = '' } = registry;
  const findings: Finding[] = [];
  if ((username === '') !== (passwordFile === '')) {
    const [given, missing] = username === '' ? ['passwordFile', 'username'] : ['username', 'passwordFile'];
    findings.push({ path: at(given), message: `needs ${missing} beside it` });
  }
  if (host !== '') return findings;
  const more = Object.keys(registry.rewrites ?? {}).join('');
  const own = Object.entries({ username, passwordFile, caFile, rewrites: more }).filter(([, value]) => value !== '');
  return [
    ...findings,
    ...own.map(([field]) => ({ path: at(field), message: "needs host: the site's own registry has no such setting" })),
  ];
}

function addonFindings({ addonNames }: ClusterSketch, source: WrittenSource): Finding[] {
  return addonNames.flatMap((name, index) => {
    const first = addonNames.indexOf(name);
    if (name === undefined || first === index) return [];
    const { line } = source.positionOf(['spec', 'addons', first, 'name']);
    return [{ path: ['spec', 'addons', index, 'name'], message: `${name} is also the add-on of line ${line}` }];
  });
}
