// The step `bootstrap-data`: makes the prepared host a node by what Cluster API made for it. The data holds keys, so it comes by the inbox Secret.
import { z } from 'zod';
import { nodeSettingsFile } from '../../config/node-settings.ts';
import { digestOf, isDigest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { taintEffects } from '../../lib/node-labels.ts';
import { bootstrapDataTask } from '../node/cloud-config/bootstrap-data.ts';
import { type StepContext, stepKind } from './step.ts';

const text = z.string().min(1).max(256);
/** A restart of an API server takes shorter. */
const inboxMs = 5 * 60_000;

const parameters = z.strictObject({
  metadata: z.strictObject({ hostname: text, address: text, instanceID: text }),
  /** Of the inbox Secret. */
  key: text.default('value'),
  /** Of the bytes that are meant: the inbox may still have those of an earlier machine. */
  digest: z.string().refine(isDigest, 'no digest sha256:<hex>'),
  kubeProxy: nodeSettingsFile.shape.kubeProxy,
  taints: z
    .strictObject({
      own: z.array(z.strictObject({ key: text, value: z.string().max(63).optional(), effect: z.enum(taintEffects) })),
      takesPods: z.boolean(),
    })
    .optional(),
});

export const bootstrapDataStep = stepKind({
  parameters,
  changes: true,
  title: () => 'Make this host a node',
  timeoutMs: () => bootstrapDataTask.timeoutMs + inboxMs,
  run: async (context, { metadata, key, digest, kubeProxy, taints }) => {
    const data = await fromInbox(context, key);
    if (digestOf(data) !== digest) {
      throw new BkeError('BKE_INBOX_EMPTY', 'the inbox has other bootstrap data than the command means', {
        host: context.scope.host.name,
        hint: 'The controller writes both anew.',
      });
    }
    await bootstrapDataTask.run(context.scope, {
      data: data.toString('utf8'),
      metadata,
      ...(kubeProxy === undefined ? {} : { kubeProxy }),
      ...(taints === undefined ? {} : { taints }),
    });
  },
});

async function fromInbox({ scope, readInbox }: StepContext, key: string): Promise<Buffer> {
  let found: Buffer | undefined;
  await scope.wait({
    for: 'the bootstrap data from the cluster',
    timeoutMs: inboxMs,
    probe: async () => {
      try {
        found = (await readInbox()).get(key);
        return { ready: true };
      } catch (thrown) {
        if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBE_UNREACHABLE') throw thrown;
        return { ready: false, cause: thrown.message };
      }
    },
  });
  if (found !== undefined) return found;
  throw new BkeError('BKE_INBOX_EMPTY', `the inbox has no ${key}`, {
    host: scope.host.name,
    hint: 'The controller writes both anew.',
  });
}
