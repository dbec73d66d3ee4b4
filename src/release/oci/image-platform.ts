// For which platform an image is, from its own config.
import { z } from 'zod';

const imageConfig = z.looseObject({ os: z.string().optional(), architecture: z.string().optional() });

/** e.g. linux/amd64; undefined where the config says nothing. */
export function imagePlatformOf(config: Buffer): string | undefined {
  try {
    const parsed = imageConfig.safeParse(JSON.parse(config.toString('utf8')));
    if (!parsed.success || parsed.data.architecture === undefined) return undefined;
    return `${parsed.data.os ?? 'linux'}/${parsed.data.architecture}`;
  } catch {
    return undefined;
  }
}
