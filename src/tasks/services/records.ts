// What init leaves for status, start and the next init: the settings it went by and what the last load brought.
import { z } from 'zod';
import { type BootstrapSettings, bootstrapKinds } from '../../config/bootstrap.ts';
import { nodeSettingsRecord } from '../../config/node-settings.ts';
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import { catalogueSchema } from '../../release/catalogue.ts';
import { servicePaths } from './layout.ts';

const port = z.int();
const settingsRecord = z.object({
  hostIP: z.string(),
  domain: z.string(),
  ports: z.object({ registry: port, registryPush: port, files: port, charts: port, kubernetes: port, ui: port }),
  pushOpen: z.boolean(),
  dataDir: z.string(),
  bootstrap: z.enum(bootstrapKinds),
  network: z.object({ podCIDR: z.string(), serviceCIDR: z.string() }),
  settings: nodeSettingsRecord,
});

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
  catalogue: catalogueSchema,
});
/** All that a later init needs to converge without the bundle. */
export type ContentRecord = z.infer<typeof contentRecord>;

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
