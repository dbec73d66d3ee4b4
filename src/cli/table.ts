// All commands. Declarations only: each loads what it runs when it runs.
import { completionCommand } from '../commands/completion/completion.ts';
import type { Command } from '../commands/context.ts';
import { explain } from '../commands/explain.ts';
import { helpCommand } from '../commands/help/help.ts';
import { operationList } from '../commands/operation/list.ts';
import { operationShow } from '../commands/operation/show.ts';
import { version } from '../commands/version.ts';

const everyCommand = (): readonly Command[] => commands;

export const commands: readonly Command[] = [
  operationList,
  operationShow,
  version,
  explain,
  completionCommand(everyCommand),
  helpCommand(everyCommand),
];
