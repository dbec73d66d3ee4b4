// Errors of releases, bundles, the registry and the file repository.
import { type ErrorEntry, ExitCode } from './entry.ts';

export const releaseErrors = {
  BKE_DISK_FULL: {
    exit: ExitCode.failed,
    title: 'A disk is full',
    explanation:
      'The message names the directory, what is free there and what is needed. What was half written has been removed. Free some space or choose a directory on another disk, then run the same command again.',
  },
  BKE_DIGEST_MISMATCH: {
    exit: ExitCode.failed,
    title: 'Bytes are not what they should be',
    explanation:
      'What was read has another sha256 than was promised: a broken copy, a disk or network fault, or somebody changed it. Nothing of it was used. The message names the source, the digest wanted and the digest found. Fetch that one file again; there is no folder to delete.',
  },
  BKE_MANIFEST_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The release manifest has mistakes',
    explanation:
      'Each line under the message is one mistake with file, line and column. All mistakes are listed at once; nothing was built.',
  },
  BKE_ARTIFACT_UNUSABLE: {
    exit: ExitCode.invalidInput,
    title: 'An artifact of the release cannot be used',
    explanation:
      'A file or chart that the release manifest names is missing, empty, for another processor architecture or not what its kind says. The message names the artifact, the platform and the place.',
  },
  BKE_IMAGE_REFERENCE: {
    exit: ExitCode.invalidInput,
    title: 'An image name is not complete',
    explanation:
      'bke wants the full public name of an image, with registry and tag or digest, such as docker.io/library/nginx:1.29: which registry a short name means depends on the machine that reads it.',
  },
  BKE_IMAGE_UNUSABLE: {
    exit: ExitCode.invalidInput,
    title: 'An image cannot be used',
    explanation:
      'The manifest, index or configuration of an image is not valid, of a type that containerd no longer runs, or for another platform than it should be. The message names the image and the digest.',
  },
  BKE_IMAGE_PLATFORM_MISSING: {
    exit: ExitCode.invalidInput,
    title: 'An image is not there for every platform',
    explanation:
      'The release wants an image for a platform that its source does not have, or that its index names without having the bytes. Get the image for that platform too, or build the bundle for fewer platforms with --platform.',
  },
  BKE_BUNDLE_UNREADABLE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle cannot be read',
    explanation: 'There is no such file, it is no plain file, or it may not be read by you.',
  },
  BKE_BUNDLE_FORMAT: {
    exit: ExitCode.invalidInput,
    title: 'This is no bundle that this bke knows',
    explanation:
      'The file is no tar file that begins with bundle.json, or its bundle.json is of a format that this bke does not know. A newer bke may have written it.',
  },
  BKE_BUNDLE_VERSION: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is for another version of bke',
    explanation:
      'A bundle can be loaded by a bke that is at most one minor version older or newer than the bke that built it. Use the bundle of this release, or the bke of that one.',
  },
  BKE_BUNDLE_TRUNCATED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is cut off',
    explanation:
      'The file ends before its content does: the copy or download was not finished. Copy it again and compare the size.',
  },
  BKE_BUNDLE_DAMAGED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is damaged',
    explanation:
      'Bytes of the file were changed after it was written. The message says where. Copy it again from where you got it.',
  },
  BKE_BUNDLE_UNSAFE_NAME: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has a member that no bundle may have',
    explanation:
      'A member is a link, a device or a directory, or its name is absolute or leads out of the bundle. bke never writes such bundles and reads nothing from this one.',
  },
  BKE_BUNDLE_DUPLICATE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has a member twice',
    explanation:
      'Two members have the same name, so it is not clear which one counts. bke never writes such bundles and reads nothing from this one.',
  },
  BKE_BUNDLE_INCOMPLETE: {
    exit: ExitCode.invalidInput,
    title: 'The bundle lacks something',
    explanation:
      'bundle.json names content that is not in the file, or a part of an image is missing. Build the bundle again, or copy it again.',
  },
  BKE_BUNDLE_EXTRA: {
    exit: ExitCode.invalidInput,
    title: 'The bundle has more than it says',
    explanation:
      'There is something in the file that the signed bundle.json does not name. Somebody added it after the bundle was built.',
  },
  BKE_BUNDLE_SIGNATURE: {
    exit: ExitCode.invalidInput,
    title: 'The signature of the bundle is wrong',
    explanation:
      'The bundle says it was signed by a key you trust, but the signature does not fit its bundle.json: it was changed after signing. --allow-unsigned does not help here, on purpose.',
  },
  BKE_BUNDLE_UNTRUSTED: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is not signed by anyone you trust',
    explanation:
      'The bundle has no signature, or one of a key that this bke does not know. Give the public key with --trust-key FILE, or accept it this once with --allow-unsigned.',
  },
  BKE_BUNDLE_PLATFORM: {
    exit: ExitCode.invalidInput,
    title: 'The bundle is not for this platform',
    explanation: 'The bundle has nothing for a platform that is needed here. Use a bundle that was built for it.',
  },
  BKE_BUNDLE_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'The bundle did not pass verification',
    explanation:
      'Each line under the message is one fault that was found in the bundle. Nothing should be loaded from it.',
  },
  BKE_KEY_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A key cannot be used',
    explanation:
      'Signing needs an Ed25519 private key in PEM form (openssl genpkey -algorithm ed25519), trusting an Ed25519 public key in PEM form (openssl pkey -in KEY -pubout).',
  },
  BKE_CHART_INVALID: {
    exit: ExitCode.invalidInput,
    title: 'A chart is not valid',
    explanation:
      'The file is no whole chart archive, or its Chart.yaml has no name or no semantic version. The message names the file and the reason.',
  },
  BKE_CHART_CONFLICT: {
    exit: ExitCode.conflict,
    title: 'The chart version is there with other content',
    explanation:
      'A chart of this name and version is in the repository already, and its content differs. Versions do not change: give the chart a new version, or replace it with --force if nobody uses the old one.',
  },
  BKE_REGISTRY_UNREACHABLE: {
    exit: ExitCode.remoteHost,
    title: 'The registry cannot be reached',
    explanation:
      'The connection was refused, broken or silent, several times. The message has the address and the reason of the last time. What was already pushed is kept; run the same command again.',
  },
  BKE_REGISTRY_TLS: {
    exit: ExitCode.remoteHost,
    title: 'The registry cannot be trusted',
    explanation:
      'The TLS connection failed: an unknown CA, a certificate for another name or out of date, or a port that does not speak TLS. bke never talks to a registry without TLS.',
  },
  BKE_REGISTRY_LOGIN: {
    exit: ExitCode.remoteHost,
    title: 'The registry refuses the login',
    explanation:
      'User name or password are missing or wrong, or do not allow what was tried. The message has the answer of the registry.',
  },
  BKE_REGISTRY_NOT_FOUND: {
    exit: ExitCode.remoteHost,
    title: 'The registry does not have it',
    explanation: 'The repository, tag or blob in the message is not there.',
  },
  BKE_REGISTRY_REFUSED: {
    exit: ExitCode.remoteHost,
    title: 'The registry refused a request',
    explanation: 'The message has what was tried, the status and the own words of the registry. Its log tells more.',
  },
  BKE_DOWNLOAD_FAILED: {
    exit: ExitCode.remoteHost,
    title: 'A download failed',
    explanation:
      'A file of the release could not be fetched from its address. The message has the address and the reason. What arrived is kept: the same command goes on from there.',
  },
  BKE_CERTIFICATE_UNREADABLE: {
    exit: ExitCode.invalidInput,
    title: 'A certificate or key file cannot be used',
    explanation:
      'The TLS certificate or key of the file server is missing, not PEM, or the two do not belong together.',
  },
} as const satisfies Record<string, ErrorEntry>;
