// Proof that a webhook works: an object with a mistake is sent as a trial, and the webhook itself must be the one who refuses it.
import type { KubeClient } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { fieldManager } from '../field-manager.ts';
import type { WebhookProbe } from './providers.ts';

/** undefined: it works. Nothing is stored, even where nobody refuses the object. */
export async function webhookTrouble(
  client: Pick<KubeClient, 'apply'>,
  { name, object }: WebhookProbe,
): Promise<string | undefined> {
  try {
    await client.apply(object, { fieldManager, dryRun: true });
  } catch (thrown) {
    if (!(thrown instanceof BkeError)) throw thrown;
    return thrown.message.includes(`"${name}" denied the request`) ? undefined : thrown.message;
  }
  return `an object that ${name} refuses was accepted: it was not asked`;
}
