// The first lines of bootstrap data say what it is; a template is rendered with what is known of the host.
import { renderTemplate, type TemplateValues } from './jinja.ts';
import { refused } from './problems.ts';

/** What bke tells bootstrap data of the host it runs on. */
export interface NodeMetadata {
  /** Name of the node: `ds.meta_data.hostname`, `ds.meta_data.local_hostname` and `v1.local_hostname`. */
  readonly hostname: string;
  /** `ds.meta_data.local_ipv4`. */
  readonly address: string;
  /** `ds.meta_data.instance_id` and `v1.instance_id`: the claim of the host. */
  readonly instanceID: string;
}

/** A Secret holds at most 1 MiB. */
const mostBytes = 1 << 20;
const templateHeader = /^##\s*template:(.*)$/i;
const configHeader = /^#cloud-config\s*$/;

/**
 * The text of cloud-config. What it is cloud-init knows by the first line, and under a template's header by the next.
 * @throws BkeError BKE_BOOTSTRAP_DATA_INVALID
 */
export function renderData(data: string, metadata: NodeMetadata): string {
  const size = Buffer.byteLength(data);
  if (size > mostBytes) throw refused([`it has ${size} bytes, and bke reads at most ${mostBytes}`]);
  const text = data.replaceAll(/\r\n?/g, '\n');
  const [first = '', second = ''] = text.split('\n', 2);
  const template = templateHeader.exec(first)?.[1]?.trim().toLowerCase();
  if (template === undefined) {
    requireConfig(first, text);
    return text;
  }
  if (template !== 'jinja') throw refused(['line 1: bke renders templates of jinja only']);
  requireConfig(second, text);
  return rendered(text, metadata);
}

function requireConfig(line: string, text: string): void {
  if (configHeader.test(line)) return;
  const ignition = text.trimStart().startsWith('{') ? '; this looks like Ignition (spec.format: ignition)' : '';
  throw refused([`line 1: it does not begin with #cloud-config${ignition}`]);
}

function rendered(text: string, metadata: NodeMetadata): string {
  const result = renderTemplate(text, valuesOf(metadata));
  if ('text' in result) return result.text;
  throw refused(result.problems.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`));
}

function valuesOf({ hostname, address, instanceID }: NodeMetadata): TemplateValues {
  return {
    ds: { meta_data: { hostname, local_hostname: hostname, local_ipv4: address, instance_id: instanceID } },
    v1: { local_hostname: hostname, instance_id: instanceID },
  };
}
