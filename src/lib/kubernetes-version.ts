// Kubernetes versions that clusters may have: one canonical form and one refusal for everything else.
import { truncate } from './text.ts';

/** Minor versions of 1 that workload clusters may have. */
const supported = { first: 34, last: 37 } as const;

/** What a cluster gets where nothing is said. */
export const defaultKubernetesVersion = 'v1.36.3';

/** e.g. v1.34 to v1.37 */
const supportedVersions = `v1.${supported.first} to v1.${supported.last}`;

type ReadVersion = { readonly version: string } | { readonly problem: string };

/**
 * `v1.36.3`; `1.36.3` is taken too. The same from a file and from the command line.
 * @returns the canonical version, or what is wrong as the end of a sentence that begins with the field.
 */
export function readKubernetesVersion(text: string): ReadVersion {
  const shown = JSON.stringify(truncate(text, 40));
  const [, digits = ''] = /^v?(\d{1,4}(?:\.\d{1,4}){1,2})$/.exec(text) ?? [];
  const [major, minor, patch] = digits.split('.').map(Number);
  if (digits !== '' && (major !== 1 || !isSupported(minor))) {
    return { problem: `v${digits} is not supported: this bke makes clusters of ${supportedVersions}` };
  }
  if (patch === undefined) {
    return { problem: `must be a version such as v1.${supported.last - 1}.3, but is ${shown}${better(text)}` };
  }
  const version = `v${major}.${minor}.${patch}`;
  return version === text.replace(/^v?/, 'v') ? { version } : { problem: `write ${version} instead of ${shown}` };
}

function isSupported(minor: number | undefined): boolean {
  return minor !== undefined && minor >= supported.first && minor <= supported.last;
}

/** What may be meant. */
function better(text: string): string {
  const whole = /^\s*v?(\d+\.\d+\.\d+)\s*$/i.exec(text)?.[1];
  if (whole !== undefined) return `; write v${whole}`;
  const release = /^v?(\d+\.\d+\.\d+)[-+]/.exec(text)?.[1];
  if (release !== undefined) return `; only releases of Kubernetes itself are taken, such as v${release}`;
  const short = /^v?(\d+\.\d+)$/.exec(text)?.[1];
  return short === undefined ? '' : `; the patch version is missing, as in v${short}.0`;
}
