// The one-line form of a command, as help and usage errors show it.
import type { ArgumentSpec, CommandSpec } from '../../lib/command.ts';

/** bke completion SHELL [options] */
export function usageLine(spec: Pick<CommandSpec<never>, 'path' | 'args' | 'options'>): string {
  const required = (spec.options ?? []).flatMap((option) =>
    option.type !== 'flag' && option.required === true ? [`--${option.name} ${option.placeholder}`] : [],
  );
  return ['bke', ...spec.path, ...(spec.args ?? []).map(argumentShown), ...required, '[options]'].join(' ');
}

/** NAME, NAME..., [NAME] */
export function argumentShown(argument: ArgumentSpec): string {
  const name = argument.name.toUpperCase() + (argument.variadic === true ? '...' : '');
  return argument.optional === true ? `[${name}]` : name;
}
