// What the agent tells on its own host of its contact with the cluster: written when it changes, not with every heartbeat.
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { tryJson } from '../../lib/try-json.ts';
import { agentPaths } from './paths.ts';

const contact = z.object({
  /** Of the agent: an earlier one may have written it. */
  pid: z.int(),
  since: z.string(),
  /** undefined: the last heartbeat was taken; else why it was not. */
  problem: z.string().optional(),
});
export type AgentContact = z.infer<typeof contact>;

export async function writeContact(host: Host, state: AgentContact): Promise<void> {
  const text = `${JSON.stringify(state)}\n`;
  await host.files.write(agentPaths.contact, text, { mode: 0o600, uid: 0, gid: 0 });
}

/** undefined where no agent has told anything. */
export async function readContact(host: Host): Promise<AgentContact | undefined> {
  const content = await host.files.read(agentPaths.contact);
  return contact.safeParse(tryJson(content?.toString('utf8') ?? '')).data;
}
