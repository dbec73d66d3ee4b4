// Pulls the images a node needs before Kubernetes asks for them, by their public names, so that what is missing is told by name.
import { listAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { eachLimited } from '../../lib/limit.ts';
import { lastLine, plural } from '../../lib/text.ts';
import { tryJson } from '../../lib/try-json.ts';
import type { Task, TaskScope } from '../task.ts';

export interface ImagesParameters {
  /** Public names with tag. */
  readonly images: readonly string[];
  /** domain:port of the registry they come from, for messages. */
  readonly registryHost: string;
}

export const crictl = '/usr/local/bin/crictl';
const pullMs = 4 * 60_000;
const atOnce = 3;

export const imagesTask: Task<ImagesParameters> = {
  name: 'node/images',
  title: ({ images }) => `Pull ${plural(images.length, 'image')}`,
  timeoutMs: 60 * 60_000,
  run: async (scope, parameters) => {
    const present = await presentImages(scope);
    const missing = parameters.images.filter((image) => !present.has(image));
    if (missing.length === 0) return;
    await scope.act(`pull ${plural(missing.length, 'image')} from ${parameters.registryHost}`, () =>
      pullAll(scope, missing, parameters.registryHost),
    );
  },
};

async function pullAll(scope: TaskScope, images: readonly string[], registryHost: string): Promise<void> {
  let done = 0;
  await eachLimited(images, atOnce, async (image) => {
    scope.progress({ message: `pull ${image}`, done, total: images.length, unit: 'items' });
    await pullImage(scope, { image, registryHost });
    done += 1;
  });
}

/** Asks only, so that a dry run may do it too; on its first run there is no crictl yet. */
async function presentImages(scope: TaskScope): Promise<ReadonlySet<string>> {
  if ((await scope.host.files.stat(crictl)) === undefined) return new Set();
  const result = await scope.host.run([crictl, 'images', '-o', 'json'], { timeoutMs: 30_000, maxOutputBytes: 8 << 20 });
  return new Set(result.exitCode === 0 ? tagsIn(tryJson(result.stdout)) : []);
}

function tagsIn(answer: unknown): string[] {
  const tags = listAt(answer, 'images').flatMap((image) => listAt(image, 'repoTags'));
  return tags.filter((tag) => typeof tag === 'string');
}

export interface ImageSource {
  /** Public name with tag. */
  readonly image: string;
  /** domain:port of the registry it comes from, for messages. */
  readonly registryHost: string;
}

/** @throws BkeError BKE_PULL_FAILED with containerd's own words; BKE_DISK_FULL. */
export async function pullImage(scope: TaskScope, source: ImageSource): Promise<void> {
  const argv = [crictl, 'pull', source.image] as const;
  const result = await scope.host.run(argv, { timeoutMs: pullMs, signal: scope.signal });
  if (result.exitCode !== 0) throw pullFailed(scope, source, lastLine(result.stderr));
}

export function pullFailed(scope: TaskScope, { image, registryHost }: ImageSource, why: string): BkeError {
  const host = scope.host.name;
  if (/no space left on device/i.test(why)) {
    return new BkeError('BKE_DISK_FULL', `${image} has no room below /var/lib/containerd: ${why}`, {
      host,
      hint: 'Make room there and run the same command again.',
    });
  }
  // As containerd says it of a layer that the registry does not have, or has with other bytes.
  const isBroken = /: not found|unexpected commit digest/i.test(why);
  return new BkeError('BKE_PULL_FAILED', `${image} cannot be pulled from ${registryHost}: ${why}`, {
    host,
    hint: isBroken
      ? "The registry lacks a part of the image, or has it damaged: 'bke init --bundle FILE' on its host puts it right, and leaves the rest as it is."
      : 'See journalctl -u containerd.service and journalctl -u bke-registry, then run the same command again.',
  });
}
