// The agent's configuration on its host: what it was installed with, and its token, which it renews by itself.
import { z } from 'zod';
import { type AgentConfig, type AgentSettings, agentSettings } from '../../api/agent-config.ts';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { tryJson } from '../../lib/try-json.ts';
import { agentPaths } from './paths.ts';

/** tokenDigest: which token it was installed with, so that installing the same again does not bring a used up one back. */
const stored = z.strictObject({ settings: agentSettings, tokenDigest: z.string() });

const rootOnly = { mode: 0o600, uid: 0, gid: 0 };

export function configurationText(config: AgentConfig): string {
  const { broughtTo: _, token, ...settings } = config;
  return `${JSON.stringify({ settings, tokenDigest: digestOf(token) } satisfies z.infer<typeof stored>, undefined, 2)}\n`;
}

/** The folder is there. Returns false where it was so already. */
export async function writeConfiguration(host: Host, config: AgentConfig): Promise<boolean> {
  const text = configurationText(config);
  const before = await host.files.read(agentPaths.config);
  if (before?.toString('utf8') === text && (await host.files.stat(agentPaths.token)) !== undefined) return false;
  // The token first: the configuration says that it is there.
  await writeToken(host, config.token);
  await host.files.write(agentPaths.config, text, rootOnly);
  return true;
}

export async function writeToken(host: Host, token: string): Promise<void> {
  await host.files.write(agentPaths.token, token, rootOnly);
}

/** @throws BkeError BKE_AGENT_NOT_INSTALLED */
export async function readSettings(host: Host): Promise<AgentSettings> {
  const content = await host.files.read(agentPaths.config);
  const parsed = stored.safeParse(tryJson(content?.toString('utf8') ?? ''));
  if (parsed.success) return parsed.data.settings;
  const why = content === undefined ? 'is not there' : 'is damaged';
  throw new BkeError('BKE_AGENT_NOT_INSTALLED', `${agentPaths.config} ${why}`, {
    host: host.name,
    hint: 'The controller installs the agent over SSH: look at the conditions of the BKEHost.',
  });
}
