// What init leaves for status, start and the next init: the settings it went by and what the last load brought.
import { z } from 'zod';
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import { type Digest, isDigest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TomlTable } from '../../lib/toml.ts';
import { servicePaths } from './layout.ts';

const port = z.int();
const settingsRecord = z.object({
  hostIP: z.string(),
  domain: z.string(),
  ports: z.object({ registry: port, registryPush: port, files: port, charts: port, kubernetes: port, ui: port }),
  pushOpen: z.boolean(),
  dataDir: z.string(),
  containerd: z.custom<TomlTable>((value) => typeof value === 'object' && value !== null).default({}),
});

const programRecord = z.object({
  version: z.string(),
  type: z.enum(['binary', 'archive']),
  /** In the file repository. */
  path: z.string(),
  digest: z.string(),
});

export const programNames = ['registry', 'containerd', 'runc', 'crictl', 'cni-plugins'] as const;
export type ProgramName = (typeof programNames)[number];

const digest = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value));
const contentRecord = z.object({
  bundle: z.object({
    name: z.string(),
    version: z.string(),
    /** Of bundle.json: the same digest is the same content. */
    digest: z.string(),
    /** Shown until a signed bundle replaces it. */
    signature: z.enum(['trusted', 'unsigned', 'untrusted']),
    kubernetesVersions: z.array(z.string()),
  }),
  programs: z.record(z.enum(programNames), programRecord),
  /** Public name of the pause image. */
  sandboxImage: z.string(),
  /** Registries whose images are here. */
  registries: z.array(z.string()),
  /** Each is asked for by status and by an init without the bundle: what is written here is no proof that it is there. */
  images: z.array(z.object({ ref: z.string(), digest })),
  files: z.array(z.object({ area: z.enum(['files', 'charts']), path: z.string(), digest, size: z.int() })),
});
/** All that a later init needs to converge without the bundle. */
export type ContentRecord = z.infer<typeof contentRecord>;
export type ProgramRecord = z.infer<typeof programRecord>;

export function settingsText(settings: BootstrapSettings): string {
  return `${JSON.stringify(settings, undefined, 2)}\n`;
}

export function contentText(record: ContentRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** undefined where init was never run here. */
export async function readSettings(host: Host): Promise<BootstrapSettings | undefined> {
  return readRecord(host, servicePaths.settings, settingsRecord);
}

/** undefined where no load came to its end. */
export async function readContent(host: Host): Promise<ContentRecord | undefined> {
  return readRecord(host, servicePaths.content, contentRecord);
}

async function readRecord<T>(host: Host, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const bytes = await host.files.read(path);
  if (bytes === undefined) return undefined;
  const record = schema.safeParse(parse(bytes.toString('utf8')));
  if (record.success) return record.data;
  throw new BkeError(
    'BKE_CONFIG_INVALID',
    `${path} cannot be read: ${record.error.issues[0]?.message ?? 'it has another form'}`,
    {
      host: host.name,
      hint: `Move ${path} away and run bke init with the options of this site.`,
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
