// What is told of a host when a reset has come to its end: true of what is still there.
import type { Scope } from '../../host/changes/change.ts';
import { listed } from '../../lib/text.ts';

/** What a reset that was not asked for all leaves at work. */
export function standingNames(scopes: readonly Scope[]): string[] {
  return [
    ...(scopes.includes('services') ? ['the local services (--mount takes them too)'] : []),
    ...(scopes.includes('enrol') ? ['the agent and what came with it (--all takes them too)'] : []),
  ];
}

/** @param program where the bke that ran the reset still lies; undefined where it went with the rest */
export function doneLine(scopesLeft: readonly Scope[], program: string | undefined): string {
  const stays = standingNames(scopesLeft);
  if (stays.length > 0) return `Done: Kubernetes is off this host. Still here: ${listed(stays)}.`;
  const nothing = 'Done: nothing of bke or Kubernetes is left on this host';
  return program === undefined ? `${nothing}; the bke program went too.` : `${nothing} but the program ${program}.`;
}
