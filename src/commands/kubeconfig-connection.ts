// A kubeconfig that someone named, as a connection; the files that it names lie beside it.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readYamlFile } from '../config/yaml-file.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { connectionFromKubeconfig } from '../kube/kubeconfig.ts';
import { whyUnreadable } from '../lib/errno.ts';
import { BkeError } from '../lib/errors.ts';
import type { CommandContext } from './context.ts';

const hint =
  'Name another with --kubeconfig FILE; that of a bootstrap cluster may be read by root alone (run the command with sudo).';

/** @param file as it was typed. @throws BkeError BKE_KUBECONFIG_INVALID */
export async function readConnection({ cwd }: Pick<CommandContext, 'cwd'>, file: string): Promise<KubeConnection> {
  const path = resolve(cwd, file);
  const text = await readYamlFile({ path, name: file, what: 'kubeconfig', code: 'BKE_KUBECONFIG_INVALID', hint });
  return connectionFromKubeconfig(text, { file, readFile: (name) => readBeside(resolve(dirname(path), name), file) });
}

async function readBeside(path: string, file: string): Promise<string> {
  return readFile(path, 'utf8').catch((thrown: unknown) => {
    const why = whyUnreadable(thrown);
    throw why === undefined
      ? thrown
      : new BkeError('BKE_KUBECONFIG_INVALID', `${file} names ${path}: ${why}`, { hint });
  });
}
