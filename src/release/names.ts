// Names, versions and paths of a release, as its manifest and bundle.json both take them: safe as file names, in messages and on terminals.
import { z } from 'zod';
import { platforms } from './platforms.ts';
import { isRepositoryPath } from './repository/paths.ts';

const longestName = 100;
const tooLong = `must have at most ${longestName} characters`;

/** Name or version: folders on hosts are called by them, so that nothing in them may lead elsewhere. */
export const pathPart = z
  .string()
  .min(1, { abort: true })
  .max(longestName, { error: tooLong, abort: true })
  .regex(/^\w[\w.+~-]*$/, {
    error: 'must begin with a letter or digit and have only letters, digits and . _ + ~ -',
  });

/** Name of an image: as others, in folders too. */
export const imageName = z
  .string()
  .min(1, { abort: true })
  .max(longestName, { error: tooLong, abort: true })
  .regex(/^\w[\w.+~/-]*$/, {
    error: 'must begin with a letter or digit and have only letters, digits and . _ + ~ / -',
  });

/** Registry, repository and tag; whether it is a full name is told where it is taken apart. 128 for the tag, 255 for the rest. */
export const imageReference = z.string().min(1).max(512);

const kubernetesVersion = z
  .string()
  .max(longestName, { error: tooLong, abort: true })
  .regex(/^v\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, { error: 'must be a version such as v1.36.3' });

export const platform = z.enum(platforms);

export const platformList = eachOnce(z.array(platform).min(1));
export const kubernetesVersions = eachOnce(z.array(kubernetesVersion));

function eachOnce<List extends z.ZodType<readonly string[]>>(list: List): List {
  return list.superRefine((values, context) => {
    for (const [index, value] of values.entries()) {
      if (values.indexOf(value) === index) continue;
      context.addIssue({ code: 'custom', path: [index], message: `${value} is there twice` });
    }
  });
}

const pathError =
  'must be a relative path of letters, digits and . _ + @ ~ -, without empty parts and parts that begin with a dot';

/** Path in the file repository. */
export const repositoryPath = z.string().min(1).refine(isRepositoryPath, { error: pathError });

/** The same with `{platform}` in it. */
export const repositoryPathPattern = z
  .string()
  .min(1)
  .refine((path) => pathsOf(path).every(isRepositoryPath), { error: pathError });

/** What a path with or without `{platform}` stands for on all platforms. */
export function pathsOf(pattern: string): string[] {
  return [...new Set(platforms.map((name) => pattern.replaceAll('{platform}', name)))];
}
