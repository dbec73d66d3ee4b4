// Whether a bundle fits this bke and the platforms wanted here, told before anything of it is used.
import semver from 'semver';
import { BkeError } from '../../lib/errors.ts';
import { listed } from '../../lib/text.ts';
import type { Platform } from '../manifest.ts';
import type { BundleDescription } from './description.ts';

type Named = Pick<BundleDescription, 'bke' | 'name' | 'version'>;

/** Releases one minor version apart work together (docs/errors.md, BKE_BUNDLE_VERSION). @throws BkeError BKE_BUNDLE_VERSION */
export function requireVersion({ bke, name, version }: Named, own: string, path: string): void {
  const theirs = semver.parse(bke);
  const ours = semver.parse(own);
  if (theirs !== null && ours !== null && theirs.major === ours.major && Math.abs(theirs.minor - ours.minor) <= 1)
    return;
  const direction = theirs !== null && ours !== null && theirs.compare(ours) < 0 ? 'older' : 'newer';
  throw new BkeError(
    'BKE_BUNDLE_VERSION',
    `${path} (${name} ${version}) is ${direction} than this bke can use: it was built by bke ${bke}, this is ${own}`,
    { hint: direction === 'older' ? 'Use a bundle of this release.' : 'Use the bke of that release.' },
  );
}

/** @throws BkeError BKE_BUNDLE_PLATFORM */
export function requirePlatforms({ platforms }: BundleDescription, wanted: readonly Platform[], path: string): void {
  const missing = wanted.filter((platform) => !platforms.includes(platform));
  if (missing.length === 0) return;
  throw new BkeError(
    'BKE_BUNDLE_PLATFORM',
    `${path} has nothing for ${listed(missing)}: it was built for ${listed(platforms)}`,
    {
      hint: 'Use a bundle that was built for that platform too.',
    },
  );
}
