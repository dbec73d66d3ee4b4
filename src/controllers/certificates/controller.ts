// Keeps the certificates of webhooks valid and their CA known to the API server: at intervals, and whenever one of these objects changes.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { notAfter } from '../../lib/x509.ts';
import { reconcileCertificates } from '../../tasks/cluster-api/certificates.ts';
import { injectCa, injectedKinds } from '../../tasks/cluster-api/inject-ca.ts';
import { managementCaKey } from '../../tasks/cluster-api/management-ca.ts';
import { providers } from '../../tasks/cluster-api/providers.ts';
import { pairOf } from '../../tasks/cluster-api/tls-secret.ts';
import type { Controller, ControllerContext, ReconcileScope } from '../controller.ts';

/** All certificates are one thing to reconcile: they hang on the same CA. */
const everything = 'certificates';
const intervalMs = 3_600_000;

const { apiVersion, kind, namespace: caNamespace, name: caName } = managementCaKey;
const ca = { namespace: caNamespace, secret: caName };
const caObject = { apiVersion, kind, metadata: { namespace: caNamespace, name: caName } };
const leaves = providers.flatMap(({ namespace, webhook }) =>
  webhook === undefined ? [] : [{ namespace, secret: webhook.secret }],
);

/** Trouble that passes by itself is no event. */
const passing: readonly string[] = ['BKE_KUBE_UNREACHABLE', 'BKE_KUBE_CONFLICT'];

export function certificatesController(
  client: Pick<KubeClient, 'get' | 'list' | 'apply' | 'patch'>,
  { events, metrics, now }: ControllerContext,
): Controller {
  const warn = (reason: string, message: string): Promise<void> =>
    events.record({ object: caObject, type: 'Warning', reason, message });

  async function reconcile({ log }: ReconcileScope): Promise<void> {
    const warnings: string[] = [];
    const changed = await reconcileCertificates(client, { now: now(), warn: (message) => warnings.push(message) });
    for (const change of changed) log.info({ change }, 'certificates changed');
    for (const message of warnings) {
      log.warn({}, message);
      await warn('ManagementCAEndsSoon', message);
    }
  }

  return {
    name: 'certificates',
    concurrency: 1,
    watch: (informers, enqueue) => {
      enqueue(everything);
      for (const { namespace, secret } of [ca, ...leaves]) {
        const source = { apiVersion, kind, namespace, fieldSelector: `metadata.name=${secret}` };
        informers.watch(source, (object, there) => {
          metrics.certificateEnds({ namespace, secret }, there ? endOf(object) : undefined);
          enqueue(everything);
        });
      }
      const labelSelector = `${injectCa.label}=${injectCa.value}`;
      for (const injected of injectedKinds) {
        // A definition is large, and no more is asked than that it changed.
        informers.watch({ ...injected, labelSelector, metadataOnly: true }, () => enqueue(everything));
      }
    },
    reconcile: async (_key, scope) => {
      try {
        await reconcile(scope);
      } catch (thrown) {
        if (thrown instanceof BkeError && !passing.includes(thrown.code)) {
          await warn('CertificatesNotKept', `${thrown.message}. ${hintFor(thrown)}`.trimEnd());
        }
        throw thrown;
      }
      return { requeueAfterMs: intervalMs };
    },
  };
}

/** The controller may not make a Secret (assets/provider/components.yaml says why); whoever installs it may. */
function hintFor({ code, hint = '' }: BkeError): string {
  return code === 'BKE_KUBE_FORBIDDEN' ? 'Run `bke init` again: it makes what is missing.' : hint;
}

/** undefined where the Secret holds no certificate. */
function endOf(secret: KubeObject): Date | undefined {
  const pair = pairOf(secret);
  return pair === undefined ? undefined : notAfter(pair.certificate);
}
