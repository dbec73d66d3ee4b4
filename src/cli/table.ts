// All commands. Declarations only: each loads what it runs when it runs.
import type { Command } from '../commands/context.ts';
import { helpCommand } from '../commands/help/help.ts';
import { version } from '../commands/version.ts';

export const commands: readonly Command[] = [version, helpCommand(() => commands)];
