// What a person reads when a host's key is not the one that is known: fingerprints, where they stand, and the exact way on.
import { BkeError } from '../../lib/errors.ts';
import { shellCommand } from '../../lib/quote.ts';
import { type KnownKey, type Verdict, printKeys } from './host-trust.ts';
import { lookupName } from './known-hosts.ts';
import { type HostKey, type SshTarget, placeOf } from './target.ts';

export function hostKeyError(target: SshTarget, key: HostKey, verdict: Exclude<Verdict, { kind: 'known' }>): BkeError {
  if (verdict.kind === 'unknown') return unknownKey(target, key, verdict.note);
  if (verdict.kind === 'changed') return changedKey(target, key, verdict.known);
  return new BkeError(
    'BKE_HOST_KEY_CHANGED',
    `the key of ${target.name} (${placeOf(target)}), ${key.type} ${key.fingerprint}, is marked as revoked in ${verdict.where}`,
    {
      host: target.name,
      hint: 'A revoked key must not be used. Give the host new keys, or take the @revoked line out where it is wrong.',
    },
  );
}

function unknownKey(target: SshTarget, key: HostKey, note: string | undefined): BkeError {
  return new BkeError(
    'BKE_HOST_KEY_UNKNOWN',
    `nothing is known about the key of ${target.name} (${placeOf(target)}): ${key.type} ${key.fingerprint}`,
    {
      host: target.name,
      details: note === undefined ? [] : [note],
      hint: `Compare it with what this prints on the host: ${printKeys}. Then add the fingerprint to the file as ${target.field ?? 'ssh'}.hostKeys: ["SHA256:…"], or log in once with ssh, or repeat the command with --accept-new-host-keys.`,
    },
  );
}

function changedKey(target: SshTarget, key: HostKey, known: readonly KnownKey[]): BkeError {
  const files = [...new Set(known.flatMap(({ file }) => file ?? []))];
  const clear = files.map((file) =>
    shellCommand(['ssh-keygen', '-f', file, '-R', lookupName(target.address, target.port)]),
  );
  const mend =
    clear.length > 0
      ? `remove the old one with: ${clear.join('; ')}`
      : `put the new one into ${target.field ?? 'ssh'}.hostKeys of ${target.name}`;
  return new BkeError(
    'BKE_HOST_KEY_CHANGED',
    `the key of ${target.name} (${placeOf(target)}) is not the one that is known: it now shows ${key.type} ${key.fingerprint}`,
    {
      host: target.name,
      details: [
        ...known.map(
          (old) => `known: ${old.type === undefined ? '' : `${old.type} `}${old.fingerprint} (${old.where})`,
        ),
        `shown: ${key.type} ${key.fingerprint}`,
      ],
      hint: `Nothing was sent to the host. Either someone else answers at this address or the host was installed anew. If you know that it was: ${mend}`,
    },
  );
}
