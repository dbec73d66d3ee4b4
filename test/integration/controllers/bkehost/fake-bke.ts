// Stands in for bke on a host: what is brought there is a script that writes down what `agent install` was told, and does nothing to the machine.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { OwnBinary } from '../../../../src/controllers/bkehost/binary.ts';
import { type AgentConfig, agentConfig } from '../../../../src/api/agent-config.ts';
import { agentAnnotations, agentObjects } from '../../../../src/api/agent-config.ts';
import { createKubeClient } from '../../../../src/kube/create-client.ts';
import type { KubeClient } from '../../../../src/kube/client.ts';

export class FakeBke {
  readonly text: string;
  readonly #output: string;

  /** @param output where the script writes; @param seed makes its digest its own */
  constructor(output: string, seed: string) {
    this.#output = output;
    this.text = `#!/bin/sh\n# ${seed}\n[ "$1 $2" = "agent install" ] || exit 2\ncat >'${output}.new' && mv '${output}.new' '${output}' && rm -f -- "$0"\n`;
  }

  get digest(): string {
    return `sha256:${createHash('sha256').update(this.text).digest('hex')}`;
  }

  binary(): OwnBinary {
    return {
      platform: process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64',
      size: Buffer.byteLength(this.text),
      digest: async () => this.digest,
      open: () => Readable.from([Buffer.from(this.text)]),
    };
  }

  /** What the host was told; undefined: nothing yet. */
  async told(): Promise<AgentConfig | undefined> {
    const text = await readFile(this.#output, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : agentConfig.parse(JSON.parse(text));
  }
}

/** The client of an agent, by what it was told alone. The caller closes it. */
export function clientOfAgent({ servers, ca, token }: AgentConfig): KubeClient {
  return createKubeClient({ servers, ca: [ca], credential: { type: 'token', token: async () => token } });
}

export async function beat(client: KubeClient, { namespace, host }: AgentConfig): Promise<void> {
  const key = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: agentObjects(host).account };
  const spec = {
    holderIdentity: host,
    leaseDurationSeconds: 40,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  };
  const annotations = { [agentAnnotations.version]: '0.1.0' };
  await client.patch(key, { metadata: { annotations }, spec }, { type: 'merge', fieldManager: 'bke-agent' });
}
