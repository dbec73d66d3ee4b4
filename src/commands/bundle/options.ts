// Options that several bundle commands take.
import type { OptionSpec } from '../../lib/command.ts';
import { platforms } from '../../release/platforms.ts';

export const trustOptions: readonly OptionSpec[] = [
  {
    type: 'path',
    name: 'trust-key',
    placeholder: 'FILE',
    repeatable: true,
    summary: 'trust bundles signed with this Ed25519 public key (PEM) too',
  },
  { type: 'flag', name: 'allow-unsigned', summary: 'accept, this once, a bundle that nobody trusted here has signed' },
];

export function platformOption(summary: string): OptionSpec {
  return { type: 'text', name: 'platform', placeholder: 'OS/ARCH', choices: platforms, repeatable: true, summary };
}
