// The work of `bke config init`.
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readAsset } from '../../lib/assets.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { requireFolderOf } from '../../lib/atomic-file.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { readInput } from '../../lib/input.ts';
import { defaultKubernetesVersion } from '../../lib/kubernetes-version.ts';
import { fillTemplate } from '../../lib/template.ts';
import type { CommandContext } from '../context.ts';

/** Passwords will be written into it. */
const fileMode = 0o600;

export async function runConfigInit(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const kind = read.requiredText('kind');
  const template = await readAsset(`assets/config/${kind}.yaml`);
  const text = fillTemplate(template, kind === 'cluster' ? { kubernetesVersion: defaultKubernetesVersion } : {});
  const output = read.text('output');
  if (output === undefined) return { kind: 'text', text };
  await writeNew(resolve(context.cwd, output), output, text);
  context.note(`${output} is written. Fill it in, then: bke config validate -f ${output}`);
  return { kind: 'none' };
}

/** @throws BkeError BKE_USAGE where something is there already, or the folder is not. */
async function writeNew(path: string, name: string, text: string): Promise<void> {
  await requireFolderOf(path, name);
  try {
    await using file = await open(path, 'wx', fileMode);
    await file.chmod(fileMode);
    await file.writeFile(text);
    await file.sync();
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
    throw new BkeError('BKE_USAGE', `${name} is there already`, {
      hint: 'Name a file that is not there yet; nothing is overwritten.',
    });
  }
}
