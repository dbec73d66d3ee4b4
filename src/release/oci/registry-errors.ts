// What a registry's refusal means: status and its own message, with registry and repository.
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { tryJson } from '../../lib/try-json.ts';
import { NetworkError } from './http.ts';

const registryError = z.object({
  code: z.string().optional(),
  message: z.string().optional(),
  detail: z.unknown().optional(),
});
type RegistryError = z.infer<typeof registryError>;
const errorBody = z.object({ errors: z.array(registryError) });

export interface Refusal {
  /** host:port */
  readonly registry: string;
  readonly repository: string;
  /** What was tried: 'push blob sha256:…'. */
  readonly action: string;
  readonly status: number;
  readonly body: Buffer;
}

export function refusalError(refusal: Refusal): BkeError {
  const said = ownMessage(refusal.body);
  const where = `${refusal.registry}/${refusal.repository}`;
  const message = `${where}: cannot ${refusal.action}: HTTP ${refusal.status}${said === '' ? '' : `: ${said}`}`;
  if (/no space left on device|disk quota exceeded/i.test(said)) {
    return new BkeError('BKE_DISK_FULL', `the disk of the registry is full: ${message}`, {
      hint: "Free some space in the registry's data directory, then run the same command again: what arrived is kept.",
    });
  }
  if (refusal.status === 401 || refusal.status === 403) {
    return new BkeError('BKE_REGISTRY_LOGIN', message, {
      hint: 'Check user name and password, and what they may do there.',
    });
  }
  if (refusal.status === 404) return new BkeError('BKE_REGISTRY_NOT_FOUND', message);
  return new BkeError('BKE_REGISTRY_REFUSED', message);
}

/** The text of `{"errors":[{code,message,detail}]}`, else the beginning of whatever came. */
function ownMessage(body: Buffer): string {
  const text = body.toString('utf8', 0, 4096);
  const parsed = errorBody.safeParse(tryJson(text));
  if (parsed.success) return parsed.data.errors.map(oneError).join('; ');
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}

function oneError({ code, message, detail }: RegistryError): string {
  const extra = typeof detail === 'string' || detail === undefined ? detail : JSON.stringify(detail);
  return [code, message, extra].filter((part) => part !== undefined && part !== '' && part !== 'null').join(': ');
}

/** A broken connection as the user meets it, once trying again has not helped. */
export function unreachable(thrown: unknown, registry: string, action: string): unknown {
  if (!(thrown instanceof NetworkError)) return thrown;
  const prefix = `${registry}: `;
  const reason = thrown.message.startsWith(prefix) ? thrown.message.slice(prefix.length) : thrown.message;
  return new BkeError('BKE_REGISTRY_UNREACHABLE', `${prefix}cannot ${action}: ${reason}`, {
    cause: new Error(reason, { cause: thrown }),
    hint: 'Check that it runs and can be reached from here, then run the same command again.',
  });
}
